/** Everything that the table says about gold: fee, pot and its shares, coins on their way, and where each coin went. */

import { gettext, placeWord, say } from "../words.js";
import { h, moving, redraw, set } from "./dom.js";
import { nameOf, sideOf } from "./seats.js";

const FLY_MS = 240;

const coin = () => h("i.coin", { "aria-hidden": "true" });
const SHORT_FROM = 100_000;

/** A number of coins; a big one also in short, for where there is little room ("1.2M"). */
function amount(coins) {
  if (coins < SHORT_FROM) return [String(coins)];
  const short = new Intl.NumberFormat(document.documentElement.lang || undefined, { notation: "compact", maximumFractionDigits: 1, roundingMode: "trunc" });
  return [h("span.exact", {}, String(coins)), h("span.in-short", { "aria-hidden": "true" }, short.format(coins))];
}

const costs = (room) => Boolean(room.money?.fee);

/** A key that changes with everything that this module would draw. */
export const moneyKey = (room) => JSON.stringify(room.money ?? null);

// -- before the start ----------------------------------------------------------------------------------------------

/** What the visitor has, as the top bar knows it at this moment; null for those without gold. */
function ownGold() {
  const purse = document.querySelector("[data-purse]");
  return purse === null ? null : Number(purse.dataset.purse);
}

/** The price of a seat in a few words for the middle of the felt; empty in a free room. */
export const seatPrice = (room) => (costs(room) ? say("%(fee)s gold a seat", { fee: room.money.fee }) : "");

/** What a room costs and what may be won there: [name, value] pairs. */
export function feeFacts(room) {
  if (!costs(room)) return [[gettext("Fee"), gettext("free")]];
  const { fee, pot, prizes } = room.money;
  const facts = [
    [gettext("Fee"), say("%(fee)s gold a seat", { fee })],
    [gettext("Pot"), say("%(pot)s gold", { pot })],
  ];
  if (prizes.length > 0) facts.push([gettext("Shares"), shareText(prizes)]);
  return facts;
}

function shareText(prizes) {
  return prizes.length > 1
    ? say("%(first)s for the first, %(second)s for the second", { first: prizes[0], second: prizes[1] })
    : gettext("all for the first");
}

/** What happens to the own fee on leaving, as a sentence for the question; empty in a free room. */
export function leavingText(room) {
  if (!costs(room)) return "";
  const { fee } = room.money;
  return room.status === "waiting"
    ? say("Your fee of %(fee)s gold comes back to you.", { fee })
    : say("Your fee of %(fee)s gold is not given back.", { fee });
}

/** Call this whenever the balance in the top bar has changed. */
export function onGold(changed) {
  const purse = document.querySelector("[data-purse]");
  if (purse !== null) new MutationObserver(changed).observe(purse, { attributes: true, attributeFilter: ["data-purse"] });
}

/** What happens to the fees of those whom the host sends away. */
export const refundText = (room) => (costs(room) ? gettext("Fees are given back in full.") : "");

/** That the own fee has come back; empty in a free room. */
export const refundedText = (room) => (costs(room) ? say("Your %(fee)s gold are back.", { fee: room.money.fee }) : "");

/** The words of the button for another match, with its price. */
export const rematchText = (room) => (costs(room) ? say("Rematch for %(fee)s gold", { fee: room.money.fee }) : gettext("Rematch"));

/** Beside that button: that the fee of the match before is not carried over; empty in a free room. */
export const anewText = (room) => (costs(room) ? say("Its fee of %(fee)s gold is paid anew.", { fee: room.money.fee }) : "");

/** That the balance in the top bar does not cover the fee of this room; empty when it does, or when there is none. */
export function shortText(room) {
  const has = ownGold();
  return !costs(room) || has === null || has >= room.money.fee ? "" : say("You have %(has)s gold, which is not enough.", { has });
}

/** What is asked before a rematch is paid; null in a free room. */
export function rematchQuestion(room) {
  if (!costs(room)) return null;
  const { fee } = room.money;
  const has = ownGold();
  const short = shortText(room);
  const enough = short === "";
  const price = say("A rematch is a new room, and its fee of %(fee)s gold is paid anew.", { fee });
  const balance = has === null ? "" : enough
    ? say("You have %(has)s gold; %(rest)s would be left.", { has, rest: has - fee })
    : short;
  const back = enough ? gettext("You get the fee back if you leave before the match starts.") : "";
  return {
    title: enough ? say("Pay %(fee)s gold for a rematch?", { fee }) : say("A rematch costs %(fee)s gold", { fee }),
    text: [price, balance, back].filter((line) => line !== "").join(" "),
    yes: enough ? say("Pay %(fee)s gold", { fee }) : null,
    no: enough ? gettext("Not now") : gettext("Close"),
    action: "rematch",
    harm: false,
  };
}

// -- the pot on the felt -------------------------------------------------------------------------------------------

/**
 * Keeps the pot on whichever felt is shown, and lets coins move between it and the seats.
 * @param {{say: (sentence: string) => void}} speech
 */
export function createMoney(speech) {
  const pot = h("p.pot", { hidden: true });

  function felt() {
    return [...document.querySelectorAll("#table .felt")].find((one) => one.checkVisibility()) ?? null;
  }

  function build({ fee, pot: coins, prizes }) {
    return [
      h("span.pot-coins", {}, h("span.pot-word", {}, `${gettext("Pot")} `), coin(), h("b", {}, ...amount(coins)), h("span.hidden-text", {}, ` ${gettext("gold")}.`)),
      prizes.length > 1
        ? h("span.pot-prizes", {}, ...prizes.map((prize, index) => h("span", {}, `${placeWord(index + 1)} `, ...amount(prize))))
        : h("span.pot-prizes", {}, h("span", {}, gettext("all for the first"))),
      h("span.pot-fee", {}, ...amount(fee), ` ${gettext("each")}`),
    ];
  }

  /** A coin from a seat's plate to the pot, or back. */
  function fly(plate, back) {
    const [from, to] = back ? [pot, plate] : [plate, pot];
    const start = from.getBoundingClientRect();
    const end = to.getBoundingClientRect();
    if (start.width === 0 || end.width === 0) return;
    const flying = h("i.coin.flying", { "aria-hidden": "true" });
    document.body.append(flying);
    const at = (box) => `translate(${box.left + box.width / 2}px, ${box.top + box.height / 2}px)`;
    const frames = moving()
      ? [{ transform: at(start), opacity: 0.6 }, { transform: at(end), opacity: 1 }]
      : [{ transform: at(end), opacity: 0 }, { transform: at(end), opacity: 1 }];
    flying.animate(frames, { duration: FLY_MS, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" })
      .finished.catch(() => {}).finally(() => flying.remove());
  }

  /** Who has paid since the room stood as in `before`, and whose fee went back. */
  function move(room, before) {
    const people = (one) => new Map(one.seats.filter((seat) => seat.kind === "human").map((seat) => [seat.sitting, seat]));
    const [now, then] = [people(room), people(before)];
    const plateOf = (number) => felt()?.querySelector(`.plate[data-side="${sideOf(room, number)}"]`);
    for (const [sitting, seat] of now) if (!then.has(sitting)) pay(seat, plateOf(seat.number), room, false);
    for (const [sitting, seat] of then) if (!now.has(sitting)) pay(seat, plateOf(seat.number), room, true);
  }

  function pay(seat, plate, room, back) {
    if (plate) fly(plate, back);
    const { pot: coins } = room.money;
    if (!back) speech.say(say("The pot is %(coins)s gold now.", { coins }));
  }

  return {
    /** @param {object} room as the server says it; @param {object|null} before the room as it was shown before */
    draw(room, before) {
      const shown = costs(room) && ["waiting", "starting", "playing"].includes(room.status);
      pot.hidden = !shown;
      if (!shown) return;
      const here = felt();
      if (here !== null && pot.parentNode !== here) here.append(pot);
      redraw(pot, moneyKey(room), () => build(room.money));
      set(pot, { "data-status": room.status });
      if (room.status === "waiting" && before?.money && before.status === "waiting") move(room, before);
    },
  };
}

// -- after the end -------------------------------------------------------------------------------------------------

/** Where every coin of the match went, for the final sheet; null when none was at stake. */
export function coinSheet(room) {
  const { money } = room;
  if (!money) return null;
  return money.payout === undefined ? rewardSheet(money) : potSheet(room, money);
}

function rewardSheet({ reward, offered, worth, left, why }) {
  const lines = [];
  if (reward > 0) {
    lines.push(share(gettext("Reward"), reward, reward < offered
      ? say("worth %(offered)s; the day’s limit left %(reward)s", { offered, reward })
      : gettext("first or second place at this level")));
  } else if (offered > 0) {
    lines.push(h("p.small", {}, say("This place is worth %(offered)s gold, and the day’s limit is reached.", { offered })));
  } else {
    lines.push(h("p.small", {}, why || say("First or second place at this level wins %(worth)s gold.", { worth })));
  }
  const today = left > 0 ? say("Left to win today: %(left)s gold.", { left }) : gettext("More gold can be won from midnight UTC.");
  return h("section.coin-sheet", { "aria-label": gettext("Gold") }, ...lines, h("p.small", {}, today));
}

function potSheet(room, { fee, pot, payout }) {
  if (payout === null || pot === 0) return null;
  const count = pot / fee;
  const how = count === 1
    ? say("one player paid %(fee)s", { fee })
    : say("%(count)s players paid %(fee)s each", { count, fee });
  const mixed = payout.length > 1 && room.seats.some((seat) => seat.kind === "bot" || seat.forfeited);
  const hows = payoutHows(pot, payout.map((line) => line.coins)).map((line, index) => (mixed ? `${shareRank(index)} · ${line}` : line));
  return h("section.coin-sheet", { "aria-label": gettext("Gold") },
    share(gettext("Pot"), pot, how),
    ...payout.map((line, index) => share(line.seat === null ? gettext("A former player") : nameOf(room, line.seat), line.coins, hows[index], line.seat === room.you)),
    ...[ownText(room, fee, payout), ...leftOut(room, payout)].filter((line) => line !== "").map((line) => h("p.small", {}, line)));
}

/** The own match in coins: what was paid, what was won, what that makes. */
function ownText(room, fee, payout) {
  const own = room.seats.find((seat) => seat.number === room.you);
  if (own === undefined || own.forfeited) return "";
  const coins = payout.find((line) => line.seat === room.you)?.coins ?? 0;
  if (coins === 0) return say("You paid %(fee)s and won nothing: %(fee)s gold less than before.", { fee });
  const values = { fee, coins, more: coins - fee, less: fee - coins };
  if (coins === fee) return say("You paid %(fee)s and won %(coins)s: as much as before.", values);
  return coins > fee
    ? say("You paid %(fee)s and won %(coins)s: %(more)s gold more than before.", values)
    : say("You paid %(fee)s and won %(coins)s: %(less)s gold less than before.", values);
}

function share(name, coins, how, you = false) {
  return h("p.share", { "data-you": you },
    h("span.share-name", {}, name, h("small", {}, how)),
    h("strong.share-coins", {}, coin(), String(coins), h("span.hidden-text", {}, ` ${gettext("gold")}`)));
}

/** Which of the players a share is for, where bots stand between them. */
const shareRank = (index) => (index === 0 ? gettext("first of the players") : gettext("second of the players"));

/** How each share of a pot came about, the first's first. */
function payoutHows(pot, won) {
  if (won.length !== 2) return won.map(() => gettext("the whole pot"));
  const [first, second] = won;
  const exact = (pot * 3) % 10 === 0;
  return [
    say("the rest: %(pot)s − %(second)s = %(first)s", { pot, second, first }),
    exact
      ? say("three tenths: %(pot)s × 3 / 10 = %(second)s", { pot, second })
      : say("three tenths: %(pot)s × 3 / 10 = %(second)s, rounded down", { pot, second }),
  ];
}

/** Who could not win the pot, and why. */
function leftOut(room, payout) {
  const names = (seats) => seats.map((seat) => nameOf(room, seat.number)).join(", ");
  const gone = room.seats.filter((seat) => seat.forfeited);
  const bots = room.seats.filter((seat) => seat.kind === "bot" && !seat.forfeited);
  const winners = payout.map((line) => line.seat);
  const rest = room.seats.filter((seat) => seat.kind === "human" && !seat.forfeited && seat.number !== room.you && !winners.includes(seat.number));
  const lines = [];
  if (rest.length > 0 && payout.length > 1) lines.push(say("Only the first two of those who paid win: nothing for %(names)s.", { names: names(rest) }));
  if (gone.length > 0) lines.push(say("Who gives a match up wins nothing of the pot: %(names)s.", { names: names(gone) }));
  if (bots.length > 0) lines.push(say("Bots win no gold, whatever their place: %(names)s.", { names: names(bots) }));
  if (payout.length === 0) lines.push(gettext("Nobody was left who could win the pot: it goes to the house."));
  return lines;
}
