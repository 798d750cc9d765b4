/** Who sits where, in words: names, roles, and what has changed at a seat. */

import { gettext, say } from "../words.js";

export const SIDES = ["south", "west", "north", "east"];

/** The side of the felt where a seat is drawn: your own south, seat 0 for those who watch. */
export const sideOf = (room, seat) => SIDES[(seat - (room.you ?? 0) + SIDES.length) % SIDES.length];

/** Who sits at this number; undefined when nobody does. */
export const seatAt = (room, number) => room.seats.find((seat) => seat.number === number);

/** Whose return to this empty seat of a rematch is still expected; empty when nobody's is. */
export function expectedAt({ room, expectedUntil }, number) {
  if (expectedUntil === null || performance.now() >= expectedUntil) return "";
  return room.expected.seats.find((one) => one.seat === number)?.name ?? "";
}

/** A seat's name; your own is "You". */
export const nameOf = (room, number) => (number === room.you ? gettext("You") : seatAt(room, number)?.name ?? "");

/** How long a name is for a plate: null, "long" or "longest"; the style makes such a name smaller. */
export const lengthOf = (name) => (name.length > 22 ? "longest" : name.length > 11 ? "long" : null);

/** "Medium bot", for a level as the server writes it. */
export const botName = (level) =>
  ({ medium: gettext("Medium bot"), hard: gettext("Hard bot"), epic: gettext("Epic bot") })[level] ?? gettext("Bot");

/** A level as people say it. */
export const levelName = (level) => ({ medium: gettext("Medium"), hard: gettext("Hard"), epic: gettext("Epic") })[level] ?? level;

/** Who sits there and how it stands with them, in one or two words, short enough for a plate. */
export function roleOf(seat, withdrawn = false) {
  if (seat.forfeited || withdrawn) return gettext("bot plays");
  if (seat.kind === "bot") return botName(seat.level);
  if (seat.auto_play) return seat.connected ? gettext("auto-play") : gettext("away · auto");
  if (!seat.connected) return gettext("away");
  if (seat.missed === 1) return gettext("missed 1");
  if (seat.missed > 1) return gettext("inactive");
  return gettext("player");
}

function sittings(room) {
  return new Map(room.seats.map((seat) => [seat.sitting ?? `${seat.kind} ${seat.number} ${seat.name}`, seat]));
}

/** What others hear about a person who stays: away, back, warned, on auto-play. */
function standing(room, seat, old) {
  if (seat.kind !== "human" || seat.number === room.you) return "";
  const name = seat.name;
  if (seat.forfeited !== old.forfeited) return "";
  if (seat.auto_play && !old.auto_play) return say("%(name)s is on auto-play.", { name });
  if (!seat.connected && old.connected) return say("%(name)s is away.", { name });
  if (seat.connected && !old.connected) return say("%(name)s is back.", { name });
  if (seat.missed > old.missed) return say("%(name)s missed a turn.", { name });
  return "";
}

/** Everything worth saying aloud about the seats since the room stood as in `before`: a list of sentences. */
export function news(room, before) {
  if (before === null) return [];
  const now = sittings(room);
  const then = sittings(before);
  const lines = [];
  const waiting = room.status === "waiting";
  for (const [key, seat] of then) {
    if (waiting && !now.has(key)) lines.push(say("%(name)s leaves seat %(seat)s.", { name: seat.name, seat: seat.number + 1 }));
  }
  for (const [key, seat] of now) {
    const old = then.get(key);
    const values = { name: nameOf(room, seat.number), seat: seat.number + 1 };
    if (old !== undefined) {
      lines.push(standing(room, seat, old));
      if (waiting && old.number !== seat.number) {
        lines.push(seat.number === room.you ? say("You move to seat %(seat)s.", values) : say("%(name)s moves to seat %(seat)s.", values));
      }
    } else if (waiting) {
      lines.push(say("%(name)s takes seat %(seat)s.", values));
    }
  }
  if (waiting) lines.push(hostNews(room, before));
  return lines.filter((line) => line !== "");
}

function hostNews(room, before) {
  const host = seatAt(room, room.host)?.sitting;
  if (room.host === null || host === seatAt(before, before.host)?.sitting) return "";
  return room.host === room.you ? gettext("You are the host now.") : say("%(name)s is the host now.", { name: nameOf(room, room.host) });
}
