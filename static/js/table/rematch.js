/** After a match of several people: the button for another one, and who has already said yes. */

import { gettext, say } from "../words.js";
import { confirm } from "./confirm.js";
import { h, redraw, set, text } from "./dom.js";
import { anewText, onGold, rematchQuestion, rematchText, shortText } from "./money.js";
import { nameOf } from "./seats.js";

/** The line and the button for a final sheet; the page's form rematch-form does the asking. */
export function createRematch() {
  const form = document.getElementById("rematch-form");
  const line = h("p.rematch-line", { role: "status" });
  const button = h("button.button.primary", { type: "button", "data-action": "rematch", onclick: accept }, gettext("Rematch"));
  let sent = false;
  let shown = null;
  addEventListener("pageshow", () => {
    sent = false;
  });

  async function accept() {
    if (sent || form === null) return;
    sent = true;
    const question = rematchQuestion(shown);
    if (question !== null && !(await confirm(question))) {
      sent = false;
      return;
    }
    set(button, { "aria-disabled": "true" });
    form.requestSubmit();
  }

  function sentence(room) {
    if (room.status === "destroyed") return gettext("The table is cleared and its room closed, so there is no rematch any more. The result stays here.");
    if (room.rematch?.open === false) return gettext("The rematch goes on without you.");
    const names = (room.rematch?.seats ?? []).map((seat) => nameOf(room, seat));
    const anew = room.you === null ? "" : anewText(room);
    if (names.length === 0) return room.you === null ? "" : `${gettext("A rematch keeps the seats of those who accept.")} ${anew}`.trim();
    if (names.length === 1) return `${say("%(name)s wants a rematch.", { name: names[0] })} ${anew}`.trim();
    return `${say("%(names)s and %(last)s want a rematch.", { names: names.slice(0, -1).join(", "), last: names.at(-1) })} ${anew}`.trim();
  }

  /** The price, and on a dim button why it stays out of reach; one that is pressed says the same at length. */
  function label() {
    if (shown === null) return;
    const short = shortText(shown);
    set(button, { "data-dim": short !== "" });
    redraw(button, `${rematchText(shown)} ${short}`, () => [rematchText(shown), short === "" ? null : h("small", {}, ` ${short}`)]);
  }
  onGold(label);

  return {
    line,
    button,
    draw(room) {
      shown = room;
      text(line, sentence(room));
      label();
      const had = button === document.activeElement;
      button.hidden = form === null || room.you === null || room.status === "destroyed" || room.rematch?.open === false;
      if (button.hidden && had) button.parentElement?.querySelector("a")?.focus({ preventScroll: true });
    },
  };
}
