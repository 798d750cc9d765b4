/** The sheets over the felt: the sums of a round, and the end of the match. */

import { gettext, placeWord, points, say } from "../../../words.js";
import { h, redraw } from "../../dom.js";
import { coinSheet, moneyKey } from "../../money.js";
import { createRematch } from "../../rematch.js";
import { nameOf, seatAt } from "../../seats.js";
import { arithmetic, tieTexts } from "./narrator.js";

/**
 * @param {HTMLElement} root
 * @param {object} hooks goOn(), again(), talk (its button and panel go with the result), opened(sheet)
 */
export function createSheets(root, { goOn, again, talk, opened }) {
  const cover = h("div.cover", { hidden: true });
  root.append(cover);
  const rematch = createRematch();
  let reviewed = null;
  let last = null;

  function roundSheet(entry, { room, view }, isReview) {
    const ended = view.result != null || entry.round >= view.rounds;
    const dealer = nameOf(room, entry.winner);
    const ties = tieTexts(room, entry.order, entry.decided);
    return h("section.sheet", { "data-sheet": isReview ? "review" : "round", role: "dialog", "aria-labelledby": "sheet-title" },
      h("h2", { id: "sheet-title" }, say("Round %(round)s of %(rounds)s", { round: entry.round, rounds: view.rounds })),
      h("table.sums", {},
        h("thead.hidden-text", {}, h("tr", {},
          h("th", { scope: "col" }, gettext("Place")), h("th", { scope: "col" }, gettext("Player")),
          h("th", { scope: "col" }, gettext("Points")), h("th", { scope: "col" }, gettext("Total")))),
        h("tbody", {}, ...entry.order.map((seat, index) => sumRow(room, entry, seat, index)))),
      ...ties.map((line) => h("p.tie", {}, line)),
      ended ? null : h("p.next-deal", {}, entry.winner === room.you
        ? gettext("You had the best round and deal the next one.")
        : say("%(name)s had the best round and deals the next one.", { name: dealer })),
      h("div.sheet-actions", {},
        room.match === null ? null : h("a.button.quiet", { href: `/matches/${room.match}/rounds/${entry.round}/`, target: "_blank", rel: "noopener" }, gettext("Check the deal")),
        isReview
          ? h("button.button.primary", { type: "button", "data-action": "close", onclick: closeReview }, gettext("Close"))
          : h("button.button.primary", { type: "button", "data-action": "continue", onclick: goOn }, ended ? gettext("See the result") : gettext("Continue"))));
  }

  function sumRow(room, entry, seat, index) {
    const { facts, sum } = arithmetic(entry, seat);
    return h("tr", { "data-best": index === 0 },
      h("td.sum-place", {}, placeWord(index + 1)),
      h("th.sum-who", { scope: "row" }, h("span.sum-name", {}, nameOf(room, seat)), h("span.sum-facts", {}, `${facts}: `, h("span.sum-how", {}, sum))),
      h("td.sum-score", {}, points(entry.scores[seat])),
      h("td.sum-total", {}, h("span.sum-label", { "aria-hidden": "true" }, gettext("total")), points(entry.totals[seat])));
  }

  function finalSheet({ room, view }) {
    const result = view?.result ?? null;
    const solo = room.visibility === "solo";
    const actions = h("div.sheet-actions", {},
      solo || result === null ? null : talk.button,
      solo
        ? h("a.button.quiet", { href: root.dataset.home, "data-action": "lobby" }, gettext("To the start page"))
        : h("a.button.quiet", { href: root.dataset.lobby, "data-action": "lobby" }, gettext("To the lobby")),
      result === null || room.match === null ? null : h("a.button", { href: `/matches/${room.match}/`, "data-action": "review" }, gettext("Review")),
      solo ? h("button.button.primary", { type: "button", "data-action": "again", onclick: again }, gettext("Play again")) : rematch.button);
    if (result === null) {
      return h("section.sheet", { "data-sheet": "final", role: "dialog", "aria-labelledby": "sheet-title" },
        h("h2", { id: "sheet-title" }, solo ? gettext("This match was given up") : gettext("This match was abandoned")),
        solo ? null : h("p", {}, gettext("Everybody was away for too long.")), coinSheet(room), actions);
    }
    const place = room.you === null ? null : result.places[room.you];
    const title = place === null ? gettext("The match is over") : place === 1 ? gettext("You win the match") : say("You finish %(place)s", { place: placeWord(place) });
    return h("section.sheet", { "data-sheet": "final", role: "dialog", "aria-labelledby": "sheet-title" },
      h("h2", { id: "sheet-title" }, title),
      h("ol.places", {}, ...result.order.map((seat) => h("li", { "data-seat": seat, "data-you": seat === room.you, "data-best": result.places[seat] === 1 },
        h("span.place", {}, placeWord(result.places[seat])),
        h("span.place-name", {}, nameOf(room, seat), seatAt(room, seat)?.forfeited ? h("small.gave-up", {}, ` ${gettext("gave up")}`) : null),
        h("span.place-total", {}, points(result.totals[seat]))))),
      ...tieTexts(room, result.order, result.decided, true).map((line) => h("p.tie", {}, line)),
      coinSheet(room),
      solo ? null : rematch.line,
      solo ? null : talk.panel,
      actions);
  }

  function draw(now, { summary, final }) {
    last = { now, summary, final };
    const entry = reviewed ?? summary;
    const key = entry !== null
      ? `${reviewed === null ? "round" : "review"} ${entry.round} ${now.view?.result != null}`
      : final ? `final ${now.view?.result != null} ${now.room.you} ${moneyKey(now.room)}` : "";
    const fresh = redraw(cover, key, () => {
      if (entry !== null) return roundSheet(entry, now, reviewed !== null);
      return final ? finalSheet(now) : [];
    });
    cover.hidden = key === "";
    if (fresh && key !== "") opened(cover.firstElementChild);
    if (final) rematch.draw(now.room);
    if (fresh && key !== "") (cover.querySelector(".button.primary:not([hidden])") ?? cover.querySelector(".sheet-actions .button"))?.focus({ preventScroll: true });
    else if (fresh) document.querySelector(".hand").focus({ preventScroll: true });
  }

  function closeReview() {
    if (reviewed === null) return;
    reviewed = null;
    draw(last.now, last);
  }

  return {
    draw,
    closeReview,
    open: () => !cover.hidden,
    /** Show the sums of an earlier round again. */
    review(entry, now) {
      reviewed = entry;
      draw(now, last);
    },
  };
}
