/** Says aloud, through the page's live region, what happens at the table. */

const KEPT = 12;

/** @param {HTMLElement} region an element with role="log" */
export function createSpeech(region) {
  let last = null;
  return {
    /** Announce one sentence; the same one right after itself is not repeated. */
    say(sentence) {
      if (!sentence || (sentence === last?.text && performance.now() - last.at < 1500)) return;
      last = { text: sentence, at: performance.now() };
      const line = document.createElement("span");
      line.textContent = `${sentence} `;
      region.append(line);
      while (region.childElementCount > KEPT) region.firstElementChild.remove();
    },
  };
}
