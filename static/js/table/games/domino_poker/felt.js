/** The felt: the oval, the trick as a cross with its request, the last trick, and what stands there before play. */

import { gettext, fill, ngettext, numberWord, requestWord, say, tileName } from "../../../words.js";
import { h, moving, redraw, set, text } from "../../dom.js";
import { SIDES, nameOf, sideOf as sideIn } from "../../seats.js";
import { drawHalf, drawTile } from "../../tiles.js";
import { marksOf, whyWon } from "./narrator.js";
import { createPlate, tricksSeen } from "./plate.js";

const SWEEP_MS = 240;

/** @param {HTMLElement} stage */
export function createFelt(stage) {
  const plates = Object.fromEntries(SIDES.map((side) => [side, createPlate(side)]));
  const slots = Object.fromEntries(SIDES.map((side) => [side, h("div.slot", { "data-side": side })]));
  const request = h("div.request");
  const note = h("div.felt-note");
  const lastPanel = h("div.last-panel", { id: "last-trick", hidden: true });
  const lastButton = h("button.last-button", {
    type: "button", "data-action": "last-trick", "aria-expanded": "false", "aria-controls": "last-trick", onclick: toggleLast,
  }, gettext("Last trick"));
  const cross = h("div.cross", {}, ...Object.values(slots), request);
  const felt = h("div.felt", {},
    h("div.oval", { "aria-hidden": "true" }),
    cross, note,
    ...SIDES.map((side) => plates[side].element),
    lastButton, lastPanel);
  stage.append(felt);
  let sideOf = () => "south";
  let countdown = null;

  function toggleLast() {
    lastPanel.hidden = !lastPanel.hidden;
    set(lastButton, { "aria-expanded": String(!lastPanel.hidden) });
  }

  function closeLast() {
    lastPanel.hidden = true;
    set(lastButton, { "aria-expanded": "false" });
  }

  function draw(now) {
    const { room, view, trick } = now;
    sideOf = (seat) => sideIn(room, seat);
    for (const seat of room.seats) plates[sideOf(seat.number)].draw(now, seat.number);
    for (const seat of room.seats) drawSlot(slots[sideOf(seat.number)], now, seat.number);
    drawRequest(now);
    drawNote(now);
    drawLast(now);
    set(felt, { "data-phase": view?.phase ?? room.status, "data-won": trick.winner !== null });
  }

  function drawSlot(slot, { room, view, trick }, seat) {
    const play = trick.plays.find((item) => item.seat === seat);
    const led = play !== undefined && trick.leader === seat;
    redraw(slot, play === undefined ? "" : `${play.tile} ${led} ${room.you}`, () => {
      if (play === undefined) return [];
      const marks = marksOf(view, play.tile);
      const name = say(led ? gettext("%(name)s led %(tile)s") : gettext("%(name)s: %(tile)s"), {
        name: nameOf(room, seat), tile: tileName(play.tile, marks),
      });
      return h("div.laid", { role: "img", "aria-label": name },
        drawTile(play.tile, { ...marks, silent: true }),
        led ? h("span.led", { "aria-hidden": "true" }, gettext("led")) : null);
    });
    set(slot, {
      "data-winning": trick.winning === seat && trick.plays.length > 1,
      "data-winner": trick.winner === seat,
    });
  }

  function drawRequest({ trick }) {
    const asked = trick.plays.length > 0 ? trick.request : null;
    redraw(request, asked ?? "", () => (asked === null
      ? []
      : [
        drawHalf(asked),
        h("span.request-word", {},
          h("span.hidden-text", {}, gettext("Asked: ")),
          asked === "T" ? gettext("trump") : numberWord(asked)),
      ]));
  }

  /** What the middle says while no tile lies there. */
  function drawNote(now) {
    const { room, view, trick, startsAt } = now;
    if (view === null && room.status === "starting") {
      redraw(note, `starting ${room.commitment?.hash}`, () => {
        countdown = h("strong.countdown", {}, "");
        return [h("span.note-title", {}, gettext("Starts in")), countdown, ...sealed(room)];
      });
      startCountdown(startsAt);
      return;
    }
    countdown = null;
    if (view === null || trick.plays.length > 0 || view.phase === "over") {
      redraw(note, "", () => []);
    } else if (now.closing) {
      redraw(note, "closing", () => []);
    } else if (view.phase === "bidding") {
      const bids = view.seats.filter((seat) => seat.bid !== null);
      const sum = bids.reduce((total, seat) => total + seat.bid, 0);
      redraw(note, `bidding ${view.round} ${view.dealer} ${sum} ${bids.length} ${room.you}`, () => [
        h("span.note-title", {}, say("Round %(round)s", { round: view.round })),
        h("span.note-line", {}, view.dealer === room.you
          ? gettext("You deal and will lead")
          : say("%(name)s deals and will lead", { name: nameOf(room, view.dealer) })),
        h("span.note-line.soft", {}, bids.length === 0
          ? gettext("7 tricks to bid for")
          : fill(ngettext("%(sum)s of 7 tricks bid", "%(sum)s of 7 tricks bid", sum), { sum })),
        ...sealed(room),
      ]);
    } else {
      const leader = view.trick?.leader ?? view.leader;
      redraw(note, `lead ${leader} ${room.you}`, () => h("span.note-line", {}, leader === null
        ? ""
        : leader === room.you ? gettext("You lead") : say("%(name)s leads", { name: nameOf(room, leader) })));
    }
  }

  function sealed(room) {
    if (!room.commitment) return [];
    return [h("a.sealed", { href: `${document.getElementById("table").dataset.rules}#fair`, target: "_blank", rel: "noopener" },
      say("Deal sealed as %(hash)s…", { hash: room.commitment.hash.slice(0, 10) }))];
  }

  function startCountdown(startsAt) {
    const target = countdown;
    const beat = () => {
      if (target === null || !target.isConnected || countdown !== target) return;
      const left = startsAt === null ? 0 : Math.max(0, Math.ceil((startsAt - performance.now()) / 1000));
      text(target, left > 0 ? String(left) : "…");
      setTimeout(beat, 200);
    };
    beat();
  }

  function drawLast({ room, view, waitingWins }) {
    const seen = view?.seats.reduce((sum, seat, number) => sum + tricksSeen(view, waitingWins, number), 0);
    const last = view?.tricks[Math.min(seen, view.tricks.length) - 1];
    set(lastButton, { "data-empty": last === undefined || view.phase === "over" });
    lastButton.disabled = last === undefined;
    if (last === undefined) closeLast();
    redraw(lastPanel, last === undefined ? "" : `${view.round} ${last.number} ${room.you}`, () => (last === undefined
      ? []
      : [
        h("p.last-title", {}, say("Trick %(number)s: %(request)s asked", { number: last.number, request: requestWord(last.request) })),
        h("ul.last-tiles", {}, ...last.plays.map((play) => {
          const marks = marksOf(view, play.tile);
          return h("li", { "data-winner": play.seat === last.winner },
            h("div.small-tile", { role: "img", "aria-label": tileName(play.tile, marks) }, drawTile(play.tile, { ...marks, silent: true })),
            h("span", {}, nameOf(room, play.seat)));
        })),
        h("p.last-why", {}, last.winner === room.you
          ? say("You took it %(why)s.", { why: whyWon(last) })
          : say("%(name)s took it %(why)s.", { name: nameOf(room, last.winner), why: whyWon(last) })),
      ]));
  }

  /** Let the tile that now lies before a seat come flying: from the own hand, or from the seat's plate. */
  function fly(seat, tile, ms) {
    const laid = slots[sideOf(seat)].querySelector(".laid");
    if (laid === null) return;
    const from = (sideOf(seat) === "south" ? document.querySelector(`[data-leaving="${tile}"]`) : null)
      ?? plates[sideOf(seat)].element;
    const start = from.getBoundingClientRect();
    const end = laid.getBoundingClientRect();
    const x = start.left + start.width / 2 - end.left - end.width / 2;
    const y = start.top + start.height / 2 - end.top - end.height / 2;
    laid.animate(
      [{ transform: `translate(${x}px, ${y}px) scale(0.8)`, opacity: 0.4 }, { transform: "none", opacity: 1 }],
      { duration: ms, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" },
    );
  }

  /** Slide the four tiles to who took them; done when they are gone. */
  async function sweep(seat) {
    const goal = plates[sideOf(seat)].element.getBoundingClientRect();
    const tiles = [...cross.querySelectorAll(".laid")];
    const still = !moving();
    await Promise.all(tiles.map((laid) => {
      const at = laid.getBoundingClientRect();
      const x = goal.left + goal.width / 2 - at.left - at.width / 2;
      const y = goal.top + goal.height / 2 - at.top - at.height / 2;
      const away = still ? "none" : `translate(${x}px, ${y}px) scale(0.35)`;
      return laid.animate([{ opacity: 1 }, { transform: away, opacity: 0 }], {
        duration: still ? 80 : SWEEP_MS, easing: "ease-in", fill: "forwards",
      }).finished.catch(() => {});
    }));
  }

  return {
    draw,
    fly,
    sweep,
    closeLast,
    showClock(left, share, last) {
      for (const side of SIDES) plates[side].showClock(left, share, last);
    },
  };
}
