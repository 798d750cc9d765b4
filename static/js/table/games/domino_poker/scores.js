/** The score sheet: rounds as rows, seats as columns; at the side, or behind a tap on a narrow screen. */

import { gettext, points, say } from "../../../words.js";
import { h, redraw, set } from "../../dom.js";
import { feeFacts, moneyKey } from "../../money.js";
import { lengthOf, nameOf } from "../../seats.js";
import { tricksSeen } from "./plate.js";

/**
 * @param {HTMLElement} aside
 * @param {HTMLButtonElement} button opens it on a narrow screen
 * @param {{open: (entry: object) => void, opened: () => void}} hooks open: a finished round is to be seen again; opened:
 *   the scores were opened
 */
export function createScores(aside, button, { open, opened }) {
  const body = h("div.scores-body");
  aside.append(
    h("div.scores-head", {},
      h("h2", {}, gettext("Scores")),
      h("button.icon-button.only-narrow", { type: "button", "aria-label": gettext("Close the scores"), onclick: close }, "×")),
    body);
  button.addEventListener("click", () => (aside.dataset.open === undefined ? show() : close()));

  function show() {
    opened();
    aside.dataset.open = "";
    set(button, { "aria-expanded": "true" });
    aside.querySelector("button").focus();
  }

  function close() {
    if (aside.dataset.open === undefined) return;
    delete aside.dataset.open;
    set(button, { "aria-expanded": "false" });
    button.focus();
  }

  function draw({ room, view, waitingWins }) {
    const key = JSON.stringify([room.you, room.seats.map((seat) => seat.name), moneyKey(room), room.commitment?.hash, view?.round, view?.scored.length,
      view?.phase === "over", waitingWins, view?.seats.map((seat) => [seat.bid, seat.tricks, seat.total])]);
    redraw(body, key, () => [table(room, view, waitingWins), h("div.scores-foot", {}, gold(room), h("p.score-key", {}, gettext("Small: tricks taken / tricks bid.")), seal(room))]);
  }

  function table(room, view, waitingWins) {
    const seats = room.seats.map((seat) => seat.number);
    const rounds = view?.rounds ?? room.rounds;
    const scored = view?.scored ?? [];
    const rows = [];
    for (let round = 1; round <= rounds; round += 1) {
      const entry = scored.find((item) => item.round === round);
      if (entry) rows.push(doneRow(room, seats, entry));
      else if (view && round === view.round && view.phase !== "over") rows.push(currentRow(seats, view, waitingWins));
      else rows.push(h("tr.to-come", {}, h("th", { scope: "row" }, String(round)), ...seats.map(() => h("td", {}, "·"))));
    }
    return h("div.scores-scroll", { tabindex: "0", role: "region", "aria-label": gettext("Scores of all rounds") },
      h("table.score-table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span.hidden-text", {}, gettext("Round"))),
          ...seats.map((seat) => h("th", { scope: "col" }, h("span.column-name", { "data-long": lengthOf(nameOf(room, seat)) }, nameOf(room, seat)))))),
        h("tbody", {}, ...rows),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, gettext("Total")),
          ...seats.map((seat) => h("td", {}, view ? points(view.seats[seat].total) : "0"))))));
  }

  function doneRow(room, seats, entry) {
    return h("tr", {},
      h("th", { scope: "row" }, h("button.round-button", {
        type: "button",
        "aria-label": say("Round %(round)s: show the sums", { round: entry.round }),
        onclick: () => {
          close();
          open(entry);
        },
      }, String(entry.round))),
      ...seats.map((seat) => h("td", { "data-winner": entry.winner === seat },
        h("span.score", {}, points(entry.scores[seat])),
        h("span.score-how", {}, `${entry.tricks[seat]}/${entry.bids[seat]}`))));
  }

  function currentRow(seats, view, waitingWins) {
    return h("tr.current", { "aria-current": "true" },
      h("th", { scope: "row" }, String(view.round)),
      ...seats.map((seat) => h("td", {}, h("span.score-how", {}, view.seats[seat].bid === null ? "–" : `${tricksSeen(view, waitingWins, seat)}/${view.seats[seat].bid}`))));
  }

  function gold(room) {
    if (!room.money?.fee || room.status === "finished" || room.status === "destroyed") return null;
    return h("dl.room-facts", {}, ...feeFacts(room).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  function seal(room) {
    if (!room.commitment) return null;
    const rules = document.getElementById("table").dataset.rules;
    return h("p.seal", {},
      h("span", {}, say("Round %(round)s was sealed before the deal:", { round: room.commitment.round })),
      h("code", { title: room.commitment.hash }, `${room.commitment.hash.slice(0, 16)}…`),
      h("a", { href: `${rules}#fair`, target: "_blank", rel: "noopener" }, gettext("What is this?")));
  }

  return { draw, close };
}
