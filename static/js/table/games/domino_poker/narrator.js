/** Domino Poker in sentences: events, rules and scores. */

import { gettext, fill, numberWord, points, requestWord, say, tileName } from "../../../words.js";
import { nameOf } from "../../seats.js";

/** What the server says about a tile, for drawing and naming it. */
export function marksOf(view, tile) {
  return { trump: view.marks.trumps.includes(tile), ace: view.marks.aces[tile] ?? null };
}

/** Why only these tiles may be played, in one sentence. */
export function ruleText(rule) {
  const number = rule.number == null ? "" : numberWord(rule.number);
  switch (rule.code) {
    case "lead":
      return gettext("You lead: any tile.");
    case "follow":
      return say("You must follow %(number)s.", { number });
    case "overtrump":
      return gettext("You must play a stronger trump.");
    case "trump":
      return gettext("Trump is asked: you must play a trump.");
    case "trump_no_suit":
      return number === ""
        ? gettext("You cannot follow: you must play a trump.")
        : say("You have no %(number)s: you must play a trump.", { number });
    case "bid":
      return gettext("How many tricks will you take?");
    default:
      return gettext("You may play any tile.");
  }
}

/** What declaring one end of a tile would mean. */
export function meansText(choice) {
  const number = numberWord(choice.as);
  switch (choice.means) {
    case "ace":
      return say("the ace of %(number)s", { number: choice.as });
    case "lowest":
      return say("the lowest %(number)s", { number: choice.as });
    default:
      return say("the others follow %(number)s", { number });
  }
}

/** Why a seat won a trick. */
export function whyWon(trick) {
  switch (trick.why) {
    case "strongest_trump":
      return gettext("with the strongest trump");
    case "ace":
      return say("with the ace of %(number)s", { number: trick.request });
    default:
      return say("with the strongest %(number)s", { number: requestWord(trick.request) });
  }
}

/** The arithmetic of one seat's round, as {facts, sum}. */
export function arithmetic(entry, seat) {
  const bid = entry.bids[seat];
  const took = entry.tricks[seat];
  const score = points(entry.scores[seat]);
  const facts = say("%(bid)s bid, %(took)s taken", { bid, took });
  switch (entry.why[seat]) {
    case "exact":
      return { facts, sum: `${bid} × 15 = ${score}` };
    case "over":
      return { facts, sum: `${took} × 5 = ${score}` };
    case "under":
      return { facts, sum: `${bid - took} × −5 = ${score}` };
    case "seven_made":
      return { facts, sum: `7 × 15 + 50 = ${score}` };
    case "seven_missed":
      return { facts, sum: say("seven missed = %(score)s", { score }) };
    default:
      return { facts, sum: say("nothing bid, nothing taken = %(score)s", { score }) };
  }
}

/** The sentences for every place that a tie rule decided, in a round or (by its last round) in a match. */
export function tieTexts(room, order, decided, ofMatch = false) {
  const texts = ofMatch
    ? {
      bid: gettext("%(first)s before %(second)s: equal totals, higher bid in the last round."),
      tricks: gettext("%(first)s before %(second)s: equal totals and last bids, more tricks in the last round."),
      seat: gettext("%(first)s before %(second)s: all equal, nearer after the last dealer."),
    }
    : {
      bid: gettext("%(first)s before %(second)s: equal points, higher bid."),
      tricks: gettext("%(first)s before %(second)s: equal points and bids, more tricks."),
      seat: gettext("%(first)s before %(second)s: all equal, nearer after the dealer."),
    };
  return decided.flatMap((rule, index) => (rule in texts
    ? [fill(texts[rule], { first: nameOf(room, order[index]), second: nameOf(room, order[index + 1]) })]
    : []));
}

/** One event as one sentence for the live region; empty when there is nothing to say. */
export function narrator(room, event, view) {
  const you = room.you !== null && event.seat === room.you;
  const name = event.seat == null ? "" : nameOf(room, event.seat);
  switch (event.type) {
    case "Dealt":
      return event.dealer === room.you
        ? say("Round %(round)s. You deal and will lead.", { round: event.round })
        : say("Round %(round)s. %(name)s deals and will lead.", { round: event.round, name: nameOf(room, event.dealer) });
    case "BidMade":
      return you ? say("You bid %(bid)s.", { bid: event.bid }) : say("%(name)s bids %(bid)s.", { name, bid: event.bid });
    case "TilePlayed": {
      const values = { name, tile: tileName(event.tile, marksOf(view, event.tile)), request: view.request ? requestWord(view.request) : "" };
      if (view.led && view.request) {
        return you ? say("You play %(tile)s, %(request)s requested.", values) : say("%(name)s plays %(tile)s, %(request)s requested.", values);
      }
      return you ? say("You play %(tile)s.", values) : say("%(name)s plays %(tile)s.", values);
    }
    case "TrickWon":
      return you ? gettext("You take the trick.") : say("%(name)s takes the trick.", { name });
    case "RoundScored":
      return [
        say("Round %(round)s is over.", { round: event.round }),
        ...event.order.map((seat) => say("%(name)s: %(facts)s, %(score)s.", {
          name: nameOf(room, seat), facts: arithmetic(event, seat).facts, score: points(event.scores[seat]),
        })),
      ].join(" ");
    case "SeatWithdrawn":
      return say("%(name)s has left; a bot plays on.", { name });
    case "MatchEnded":
      return say("The match is over. First: %(name)s.", { name: nameOf(room, event.order[0]) });
    default:
      return "";
  }
}
