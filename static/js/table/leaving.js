/** The ways out of a table: free while it waits, a forfeit while a match runs, a plain link when it is over. */

import { gettext } from "../words.js";
import { confirm } from "./confirm.js";
import { leavingText } from "./money.js";

function question(room) {
  if (room.status === "waiting") {
    return {
      title: gettext("Leave this room?"),
      text: gettext("Your seat becomes free. Nothing else happens: you may come back while there is one."),
      yes: gettext("Leave the room"),
      action: "leave",
    };
  }
  return {
    title: gettext("Leave this match?"),
    text: room.visibility === "solo"
      ? gettext("Your seat is given up for good and the match ends for you.")
      : gettext("This is a forfeit. Your seat goes to a bot for good, and you cannot come back to it."),
    yes: gettext("Leave the match"),
    action: "leave",
  };
}

/**
 * @param {HTMLElement} root the table, whose data-home and data-lobby say where one may go
 * @param {{state: () => object, end: () => void}} hooks the store's state; end closes the socket for good
 */
export function createLeaving(root, { state, end }) {
  return async function leave() {
    const { room, connection } = state();
    const sits = room !== null && room.you !== null && connection !== "closed";
    if (!sits || !["waiting", "starting", "playing"].includes(room.status)) {
      location.assign(room?.visibility === "solo" || (room === null && root.dataset.mode !== "visit") ? root.dataset.home : root.dataset.lobby);
      return;
    }
    const asked = question(room);
    if (!(await confirm({ ...asked, text: `${asked.text} ${leavingText(room)}`.trim() }))) return;
    end();
    const form = document.getElementById("leave-form");
    form.elements.gives_up.value = room.status === "waiting" ? "seat" : "match";
    form.requestSubmit();
  };
}
