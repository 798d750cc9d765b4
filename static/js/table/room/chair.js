/** One chair of a waiting room: who has taken it, or what may be done with it while it is empty. */

import { gettext, say } from "../../words.js";
import { h, redraw, set, text } from "../dom.js";
import { botName, expectedAt, lengthOf, nameOf, seatAt } from "../seats.js";

/**
 * @param {"south"|"west"|"north"|"east"} side
 * @param {object} hooks visiting, click(about, frame), remove(seat)
 */
export function createChair(side, { visiting, click, remove }) {
  const name = h("span.plate-name");
  const host = h("span.host-mark", { hidden: true }, gettext("Host"));
  const role = h("span.plate-role");
  const actions = h("div.chair-actions");
  const refusal = h("p.refusal", { hidden: true });
  const element = h("div.plate.chair", { "data-side": side, role: "group", tabindex: "-1" },
    h("span.plate-top", {}, name, host),
    h("span.plate-who", {}, role),
    actions, refusal);

  function button(action, words, label, onclick, look = "") {
    return h(`button.button.small${look}`, { type: "button", "data-action": action, "aria-label": label, onclick }, words);
  }

  function emptyActions(room, number, level) {
    const about = `seat-${number}`;
    const values = { seat: number + 1 };
    if (visiting) {
      return document.getElementById("sit-form") === null ? [] : [h("button.button.small.primary", {
        type: "submit", form: "sit-form", name: "seat", value: number, "data-action": "sit", "aria-label": say("Sit at seat %(seat)s", values),
      }, gettext("Sit here"))];
    }
    const list = [button("move", gettext("Move here"), say("Move to seat %(seat)s", values), () => click(about, { t: "move", seat: number }))];
    if (room.host === room.you && room.you !== null) {
      list.push(button("bot", gettext("Add bot"), say("Put a bot at seat %(seat)s", values), () => click(about, { t: "bot", seat: number, level: level() })));
    }
    return list;
  }

  function takenActions(room, seat) {
    if (visiting || room.host !== room.you || room.you === null || seat.number === room.you) return [];
    if (seat.kind === "bot") {
      return [button("clear", gettext("Clear"), say("Clear seat %(seat)s", { seat: seat.number + 1 }), () => click(`seat-${seat.number}`, { t: "clear", seat: seat.number }))];
    }
    return [button("remove", gettext("Remove"), say("Remove %(name)s", { name: seat.name }), () => remove(seat), ".quiet")];
  }

  function standing(seat, number, expected) {
    const place = say("Seat %(seat)s", { seat: number + 1 });
    if (seat === undefined) return expected === "" ? place : `${place} · ${gettext("expected")}`;
    if (seat.kind === "bot") return `${place} · ${botName(seat.level)}`;
    return `${place} · ${seat.connected ? gettext("here") : gettext("away")}`;
  }

  function draw(now, number) {
    const { room, refusals } = now;
    const seat = seatAt(room, number);
    const expected = seat === undefined ? expectedAt(now, number) : "";
    const label = seat === undefined ? expected || gettext("Empty") : nameOf(room, number);
    const isHost = room.host === number;
    text(name, label);
    set(name, { "data-long": lengthOf(label) });
    host.hidden = !isHost;
    text(role, standing(seat, number, expected));
    set(element, {
      "data-seat": number,
      "data-empty": seat === undefined,
      "data-expected": expected !== "",
      "data-you": room.you === number,
      "data-host": isHost,
      "data-away": seat?.kind === "human" && !seat.connected,
      "aria-label": `${label}, ${isHost ? `${gettext("Host")}, ` : ""}${role.textContent}`,
    });
    const had = actions.contains(document.activeElement);
    const key = `${seat?.sitting ?? seat?.kind ?? "empty"} ${number} ${room.host === room.you} ${room.you}`;
    const fresh = redraw(actions, key, () => (seat === undefined ? emptyActions(room, number, now.level) : takenActions(room, seat)));
    if (fresh && had) (actions.querySelector("button") ?? element).focus({ preventScroll: true });
    const why = refusals.get(`seat-${number}`) ?? "";
    text(refusal, why);
    refusal.hidden = why === "";
  }

  return { element, draw };
}
