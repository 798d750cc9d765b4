/** Beside the felt of a waiting room: the start, the invitation, what was agreed, and the way out. */

import { fill, gettext, ngettext, say } from "../../words.js";
import { h, redraw, set, text } from "../dom.js";
import { feeFacts, moneyKey } from "../money.js";
import { levelName, seatAt } from "../seats.js";
import { createInvitation } from "./invitation.js";

const LAST_MINUTES = 10;
const BEAT_MS = 1000;

/** @param {object} hooks visiting, qr, lobby, click(about, frame), start(), leave(), destroy() */
export function createPanel({ visiting, qr, lobby, click, start, leave, destroy }) {
  const startBox = visiting ? visitorBox() : createStart({ click, start, chosen });
  const levels = h("div.room-levels", { hidden: true });
  const invitation = visiting ? null : createInvitation(qr);
  const facts = h("dl.room-facts");
  const watching = h("div.room-watching");
  const left = h("p.room-left", { hidden: true });
  const foot = h("div.room-foot");
  const element = h("div.room-panel", {},
    levels, invitation?.element, facts, watching, left, foot);
  let expiresAt = null;
  let level = null;

  function chosen() {
    return level;
  }

  function beat() {
    const ms = expiresAt === null ? null : Math.max(0, expiresAt - performance.now());
    left.hidden = ms === null || ms > LAST_MINUTES * 60_000;
    if (left.hidden) return;
    const seconds = Math.ceil(ms / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    text(left, say("The room closes in %(clock)s unless the match has started.", { clock }));
  }
  setInterval(beat, BEAT_MS);

  function drawLevels(room) {
    const many = !visiting && room.host === room.you && room.levels.length > 1;
    if (!room.levels.includes(level)) level = room.levels[0];
    levels.hidden = !many;
    redraw(levels, many ? room.levels.join(" ") : "", () => (many
      ? h("fieldset.choice", {}, h("legend", {}, gettext("Level of new bots")), ...room.levels.map((key) => h("label", {},
        h("input", { type: "radio", name: "bot-level", value: key, checked: key === level, onchange: () => { level = key; } }),
        h("span", {}, levelName(key)))))
      : []));
  }

  function drawFacts(room) {
    redraw(facts, `${room.rounds} ${room.visibility} ${room.turn_ms} ${moneyKey(room)}`, () => [
      ...fact(gettext("Rounds"), String(room.rounds)),
      ...fact(gettext("Room"), room.visibility === "public" ? gettext("public, in the lobby") : gettext("private, by code only")),
      ...(room.turn_ms === null ? [] : fact(gettext("Turn"), fill(ngettext("%(seconds)s second", "%(seconds)s seconds", room.turn_ms / 1000), { seconds: room.turn_ms / 1000 }))),
      ...feeFacts(room).flatMap(([name, value]) => fact(name, value)),
    ]);
  }

  function fact(name, value) {
    return [h("dt", {}, name), h("dd", {}, value)];
  }

  function drawWatching(room, refusals) {
    const isHost = !visiting && room.host === room.you;
    const { allowed, path } = room.watch ?? { allowed: false, path: null };
    const key = `${isHost} ${path}`;
    redraw(watching, key, () => {
      if (visiting) return [];
      return [
        isHost
          ? h("label.check", {}, h("input", { type: "checkbox", role: "switch", "data-action": "watching", onchange: toggleWatching }), h("span", {}, gettext("Others may watch")))
          : h("p.room-watched"),
        h("p.refusal", { hidden: true }),
      ];
    });
    const box = watching.querySelector("input");
    if (box !== null) box.checked = allowed;
    const line = watching.querySelector(".room-watched");
    if (line !== null) text(line, allowed ? gettext("Others may watch this room.") : gettext("Nobody else may watch this room."));
    const why = watching.querySelector(".refusal");
    if (why !== null) {
      text(why, refusals.get("watching") ?? "");
      why.hidden = !refusals.has("watching");
    }
  }

  function toggleWatching(event) {
    click("watching", { t: "watching", allowed: event.target.checked });
  }

  function drawFoot(room, refusals) {
    const isHost = !visiting && room.host === room.you;
    redraw(foot, `${isHost}`, () => (visiting
      ? h("a.button.quiet", { href: lobby, "data-action": "lobby" }, gettext("Back to the lobby"))
      : [
        h("button.button.quiet", { type: "button", "data-action": "leave-room", onclick: leave }, gettext("Leave the room")),
        isHost ? h("button.button.quiet.danger", { type: "button", "data-action": "delete", onclick: destroy }, gettext("Delete the room")) : null,
        h("p.refusal", { hidden: true }),
      ]));
    const why = foot.querySelector(".refusal");
    if (why === null) return;
    text(why, refusals.get("delete") ?? "");
    why.hidden = !refusals.has("delete");
  }

  return {
    element,
    /** Where the match is started from: it stands where the hand will lie. */
    start: startBox.element,
    /** The level for new bots. */
    level: chosen,
    draw(now) {
      const { room, refusals } = now;
      expiresAt = now.expiresAt;
      drawLevels(room);
      startBox.draw(now);
      invitation?.draw(now);
      drawFacts(room);
      drawWatching(room, refusals);
      drawFoot(room, refusals);
      beat();
    },
  };
}

/** Start and fill for the host; for the others who they wait for. */
function createStart({ click, start, chosen }) {
  const element = h("div.room-start");
  const why = h("p.start-why", { id: "start-why" });

  function draw({ room, refusals }) {
    const isHost = room.host === room.you && room.you !== null;
    const full = room.seats.length >= room.seat_count;
    const had = element.contains(document.activeElement) ? document.activeElement.dataset.action : null;
    const fresh = redraw(element, String(isHost), () => (isHost
      ? [
        why,
        h("div.start-buttons", {},
          h("button.button", { type: "button", "data-action": "fill", onclick: () => click("fill", { t: "fill", level: chosen() }) }, gettext("Fill with bots")),
          h("button.button.primary", { type: "button", "data-action": "start", "aria-describedby": "start-why", onclick: start }, gettext("Start"))),
      ]
      : [why]));
    if (fresh && had !== null) element.querySelector("button")?.focus({ preventScroll: true });
    if (isHost) {
      set(element.querySelector("[data-action=start]"), { "aria-disabled": full ? null : "true" });
      set(element.querySelector("[data-action=fill]"), { "aria-disabled": full ? "true" : null });
    }
    const refused = refusals.get("start") ?? refusals.get("fill");
    set(why, { "data-tone": refused === undefined ? "" : "bad" });
    text(why, refused ?? waitingFor(room, isHost, full));
  }

  return { element, draw };
}

function waitingFor(room, isHost, full) {
  if (isHost) return full ? gettext("All seats are taken: start when you like.") : gettext("Four seats must be taken before the start.");
  const host = seatAt(room, room.host)?.name ?? "";
  return full ? say("Waiting for %(name)s to start.", { name: host }) : say("%(name)s starts when four seats are taken.", { name: host });
}

/** For those who look in from outside: the form of the page that seats them, or that there is nothing to sit at. */
function visitorBox() {
  const form = document.getElementById("sit-form");
  const line = h("p.start-why");
  const element = h("div.room-start", {}, line, form);
  if (form !== null) {
    form.hidden = false;
    let sent = false;
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      sent = true;
    });
    addEventListener("pageshow", () => { sent = false; });
  }

  function draw({ room }) {
    const full = room.seats.length >= room.seat_count;
    text(line, form === null
      ? gettext("You are watching. The match has not started yet.")
      : full
        ? gettext("All seats are taken. When the match starts you can watch it here.")
        : say("%(name)s starts when four seats are taken. Choose a seat.", { name: seatAt(room, room.host)?.name ?? "" }));
    const button = form?.querySelector("[data-action=sit-first]");
    if (button) button.hidden = full;
  }

  return { element, draw };
}
