/** The thin line over the table while the connection is gone, and why it will not come back. */

import { gettext, say } from "../words.js";
import { h, text } from "./dom.js";

/** Why a socket closed for good, when the server has not said it in words of its own. */
export function closedText(code) {
  switch (code) {
    case 4404:
      return gettext("This room is not there any more.");
    case 4409:
      return gettext("Your seat was taken over on another device.");
    case 4400:
      return gettext("The page and the server do not understand each other. Please reload.");
    default:
      return gettext("Your session has ended.");
  }
}

/** @param {HTMLElement} root the table, whose data-home and data-lobby say where one may go */
export function createBanner(root) {
  const element = h("p.banner", { role: "status", hidden: true });
  root.prepend(element);

  function show(key, build) {
    if (element.dataset.shown !== key) {
      element.dataset.shown = key;
      element.replaceChildren(...build());
    }
    element.hidden = key === "";
  }

  return {
    /** @param {object} state of the store; @param {number|null} seconds left of the own turn; @param {boolean} quiet another part says it */
    draw({ connection, closed, room, prompt }, seconds, quiet) {
      const over = room?.status === "finished" || room?.status === "destroyed";
      if (over || quiet || (connection !== "closed" && connection !== "reconnecting")) {
        show("", () => []);
      } else if (connection === "closed") {
        const why = closed?.text || closedText(closed?.code);
        const solo = room === null ? root.dataset.mode !== "visit" : room.visibility === "solo";
        show(why, () => [`${why} `, solo
          ? h("a", { href: root.dataset.home }, gettext("To the start page"))
          : h("a", { href: root.dataset.lobby }, gettext("To the lobby"))]);
      } else {
        show("reconnecting", () => []);
        text(element, reconnecting(room, prompt !== null ? seconds : null));
      }
    },
  };
}

function reconnecting(room, seconds) {
  if (room !== null && room.you === null) return gettext("Reconnecting.");
  return seconds === null
    ? gettext("Reconnecting: your seat is kept.")
    : say("Reconnecting: your seat is kept, %(seconds)s s left on your turn.", { seconds });
}
