/** The room before its match: four seats around the felt, who takes them, and what the host may do. */

import { gettext, say } from "../words.js";
import { confirm } from "./confirm.js";
import { h, redraw, set, text } from "./dom.js";
import { refundText, refundedText, seatPrice } from "./money.js";
import { createPanel } from "./room/panel.js";
import { createChair } from "./room/chair.js";
import { SIDES, news, sideOf } from "./seats.js";

/**
 * @param {HTMLElement} element the section of the page that is the room
 * @param {object} hooks ask(about, frame), leave(), speech, landed, visiting (whether the page is a visitor's), qr (address or
 *   undefined), lobby (address)
 */
export function createRoom(element, { ask, leave, speech, landed, visiting, qr, lobby }) {
  const note = h("div.felt-note");
  const chairs = Object.fromEntries(SIDES.map((side) => [side, createChair(side, { visiting, click, remove })]));
  const felt = h("div.felt", { "data-phase": "waiting" },
    h("div.oval", { "aria-hidden": "true" }), note, ...SIDES.map((side) => chairs[side].element));
  const panel = createPanel({ visiting, qr, lobby, click, start, leave, destroy });
  const gone = h("div.room-gone", { hidden: true });
  element.append(h("div.room-felt", {}, felt), panel.start, panel.element, gone);

  const refusals = new Map();
  let state = null;
  let fading = null;

  /** Do one thing and keep a refusal beside it until the next try. */
  async function click(about, frame) {
    refusals.delete(about);
    const answer = await ask(about, frame);
    if (answer !== null && !answer.ok) {
      refusals.set(about, answer.text);
      speech.say(answer.text);
    }
    draw();
    return answer !== null && answer.ok;
  }

  async function start() {
    const { room } = state;
    if (room.seats.length < room.seat_count) speech.say(gettext("Four seats must be taken before the start."));
    await click("start", { t: "start" });
  }

  async function remove(seat) {
    const sure = await confirm({
      title: say("Remove %(name)s?", { name: seat.name }),
      text: `${gettext("The seat becomes free. They cannot come back to this room.")} ${refundText(state.room)}`.trim(),
      yes: gettext("Remove"),
      no: gettext("Cancel"),
      action: "remove",
    });
    if (sure) await click(`seat-${seat.number}`, { t: "remove", sitting: seat.sitting });
  }

  async function destroy() {
    const sure = await confirm({
      title: gettext("Delete this room?"),
      text: `${gettext("Everybody goes back to the lobby.")} ${refundText(state.room)}`.trim(),
      yes: gettext("Delete the room"),
      no: gettext("Keep it"),
      action: "delete",
    });
    if (sure) await click("delete", { t: "delete" });
  }

  function draw() {
    const { room, connection, closed } = state;
    const over = connection === "closed" || room.status === "destroyed";
    gone.hidden = !over;
    set(element, { "data-gone": over });
    if (over) {
      drawGone(`${closed?.text || gettext("This room was closed before the match began.")} ${refund(room, closed)}`.trim());
      return;
    }
    const { expiresAt, expectedUntil } = state;
    const now = { room, refusals, connected: connection === "connected", level: panel.level, expiresAt, expectedUntil };
    const left = expectedUntil === null ? 0 : expectedUntil - performance.now();
    clearTimeout(fading);
    if (left > 0) fading = setTimeout(draw, left);
    for (let number = 0; number < room.seat_count; number += 1) chairs[sideOf(room, number)].draw(now, number);
    const open = room.seat_count - room.seats.length;
    redraw(note, `${open} ${seatPrice(room)}`, () => [
      h("span.note-title", {}, say("%(taken)s of %(seats)s", { taken: room.seats.length, seats: room.seat_count })),
      h("span.note-line", {}, open === 0 ? gettext("all seats taken") : gettext("seats taken")),
      seatPrice(room) === "" ? null : h("span.note-line.soft", {}, seatPrice(room)),
    ]);
    panel.draw(now);
  }

  /** Whoever loses the seat of a room that waits, or the room itself, has the fee again; else the page knows nothing. */
  function refund(room, closed) {
    if (visiting || room.you === null) return "";
    return room.status === "destroyed" || (closed?.code === 4404 && closed.live) ? refundedText(room) : "";
  }

  function drawGone(why) {
    const fresh = redraw(gone, why, () => h("section.sheet", { "data-sheet": "gone", "aria-labelledby": "gone-title" },
      h("h2", { id: "gone-title" }, gettext("You are not in this room any more")),
      h("p", {}, why),
      h("div.sheet-actions", {}, h("a.button.primary", { href: lobby, "data-action": "lobby" }, gettext("To the lobby")))));
    if (fresh) {
      text(gone.querySelector("h2"), visiting ? gettext("This room is gone") : gettext("You are not in this room any more"));
      landed.sheet(gone.firstElementChild);
      speech.say(why);
      gone.querySelector("a").focus({ preventScroll: true });
    }
  }

  return {
    /** @param {object} next state of the store; @param {object|null} before the room as it was shown before */
    render(next, before) {
      state = next;
      for (const line of news(next.room, before)) speech.say(line);
      if (before !== null && changed(next.room, before)) refusals.clear();
      draw();
    },
    show(visible) {
      element.hidden = !visible;
    },
  };
}

/** Whether a refusal that stands there may no longer be true. */
function changed(room, before) {
  const taken = (one) => JSON.stringify([one.host, one.watch?.allowed, one.seats.map((seat) => [seat.number, seat.sitting, seat.kind])]);
  return taken(room) !== taken(before);
}
