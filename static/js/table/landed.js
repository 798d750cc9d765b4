/** What came of the click that led here: over the felt for a while, gone when a sheet opens, inside a sheet that is there at once. */

const SHOWN_MS = 8000;

/** @param {HTMLElement|null} element the notice of the page, if it has one */
export function createLanded(element) {
  const timer = element === null ? null : setTimeout(drop, SHOWN_MS);
  let seen = false;

  function drop() {
    clearTimeout(timer);
    element?.remove();
  }

  return {
    drop,
    /** A sheet opens: it takes in what nobody can have read yet, and puts an end to the rest. */
    sheet(opened) {
      if (seen || element === null || !element.isConnected) {
        drop();
        return;
      }
      clearTimeout(timer);
      element.classList.add("in-sheet");
      opened.querySelector("h2").after(element);
    },
    /** The table was drawn: from here on the notice has been seen. */
    drawn() {
      seen = true;
    },
  };
}
