/** Keeps the screen lit while a match runs, where the browser allows it. */

let lock = null;

/** @param {boolean} playing whether a match runs now */
export async function keepAwake(playing) {
  if (!playing) {
    await lock?.release().catch(() => {});
    lock = null;
  } else if ((lock === null || lock.released) && document.visibilityState === "visible") {
    lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
  }
}
