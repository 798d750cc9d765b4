/** A seat's plate: name, who sits there, dealer mark, the bid as pips, hidden tiles, and whose turn it is. */

import { fill, gettext, ngettext, points, say } from "../../../words.js";
import { h, redraw, set, text } from "../../dom.js";
import { svg } from "../../tiles.js";
import { lengthOf, nameOf, roleOf } from "../../seats.js";

const TILES = 7;
// So many missed turns in a row put a seat on auto-play.
const MISSES = 3;

/** The tricks of a seat whose tiles have reached it: what is still on its way is not told beforehand. */
export const tricksSeen = (view, waitingWins, number) => view.seats[number].tricks - waitingWins.filter((winner) => winner === number).length;

/** One trick in a row of pips: won, still needed, or beyond the bid. */
function trickPip(kind) {
  const root = svg("svg", { viewBox: "0 0 12 12", class: `trick-pip ${kind}`, "aria-hidden": "true", focusable: "false" });
  root.append(kind === "over"
    ? svg("path", { d: "M6 .8L11.200 6 6 11.200.8 6z" })
    : svg("circle", { cx: 6, cy: 6, r: kind === "won" ? 5 : 4.2 }));
  return root;
}

function pipRow(bid, tricks) {
  const row = [];
  for (let i = 0; i < Math.max(bid, tricks); i += 1) row.push(trickPip(i >= bid ? "over" : i < tricks ? "won" : "needed"));
  return row;
}

function bidRow(bid, tricks, bidding) {
  if (bid === null) {
    return [h("span.plate-pips"), h("span.plate-count", { "data-wordy": true }, bidding ? gettext("bidding") : gettext("no bid yet"))];
  }
  return [
    h("span.plate-pips", {}, ...pipRow(bid, tricks)),
    h("span.plate-count", {},
      h("span.hidden-text", {}, say("bid %(bid)s, took %(tricks)s", { bid, tricks })),
      h("span", { "aria-hidden": "true", dir: "ltr" }, h("b", {}, String(tricks)), ` / ${bid}`)),
  ];
}

/** A total with its unit, which a narrow plate has in short. */
function totalWords(total) {
  const values = { total: points(total) };
  const words = fill(ngettext("%(total)s point", "%(total)s points", Math.abs(total)), values);
  return [h("span.unit", {}, words), h("span.unit-short", { "aria-hidden": "true" }, say("%(total)s pts", values))];
}

/** @param {"south"|"west"|"north"|"east"} side */
export function createPlate(side) {
  const name = h("span.plate-name");
  const dealer = h("span.dealer", { title: gettext("Dealer") }, h("span", { "aria-hidden": "true" }, gettext("D")), h("span.hidden-text", {}, gettext("dealer")));
  const misses = h("span.misses", { "aria-hidden": "true", hidden: true }, ...Array.from({ length: MISSES }, () => h("i")));
  // Words and pips of one row are made anew together: none of them is ever seen to move aside for another.
  const who = h("span.plate-who");
  const bids = h("span.plate-bid");
  const backs = h("span.backs", { "aria-hidden": "true" });
  const element = h("div.plate", { "data-side": side, role: "group" },
    h("span.ring", { "aria-hidden": "true" }),
    h("span.plate-top", {}, name, dealer, misses),
    who,
    bids,
    side === "south" ? null : backs);

  function draw({ room, view, waitingWins, closing }, number) {
    const seat = room.seats[number];
    const facts = view?.seats[number];
    const label = nameOf(room, number);
    text(name, label);
    set(name, { "data-long": lengthOf(label) });
    set(element, {
      "data-seat": number,
      "aria-label": label,
      "data-turn": view !== null && view.turn === number && !closing,
      "data-away": seat.kind === "human" && (!seat.connected || seat.auto_play || seat.forfeited),
      "data-missed": seat.missed > 0 && !seat.forfeited,
      "data-auto": seat.kind === "human" && seat.auto_play && !seat.forfeited,
    });
    const missed = seat.kind === "human" && !seat.forfeited ? Math.min(seat.missed, MISSES) : 0;
    misses.hidden = missed === 0;
    [...misses.children].forEach((mark, index) => set(mark, { "data-on": index < missed }));
    const role = roleOf(seat, facts?.withdrawn);
    dealer.hidden = view === null || view.dealer !== number;
    redraw(who, `${role} ${facts?.total}`, () => [
      h("span.plate-role", {}, role),
      h("span.plate-total", {}, ...(facts ? totalWords(facts.total) : [])),
    ]);
    if (!facts) return;
    const tricks = tricksSeen(view, waitingWins, number);
    const bidding = facts.bid === null && view.turn === number;
    redraw(bids, `${facts.bid} ${tricks} ${bidding}`, () => bidRow(facts.bid, tricks, bidding));
    redraw(backs, String(facts.tiles), () => Array.from({ length: TILES }, (_, i) => h(i < facts.tiles ? "span.back" : "span.back.gone")));
  }

  return {
    element,
    draw,
    showClock(left, share, last) {
      const mine = element.hasAttribute("data-turn") && left !== null;
      set(element, { "data-clocked": mine, "data-last": mine && last });
      element.style.setProperty("--left", mine ? share.toFixed(3) : "1");
    },
  };
}
