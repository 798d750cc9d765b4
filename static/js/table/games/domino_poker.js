/** Domino Poker at the table: joins felt, hand, scores and sheets; knows how things look, never what is allowed. */

import { gettext, say } from "../../words.js";
import { text } from "../dom.js";
import { createDirector } from "./domino_poker/director.js";
import { createFelt } from "./domino_poker/felt.js";
import { createHand } from "./domino_poker/hand.js";
import { createScores } from "./domino_poker/scores.js";
import { createSheets } from "./domino_poker/sheets.js";
import { narrator } from "./domino_poker/narrator.js";
import { createStrip } from "./domino_poker/strip.js";

/** @param {object} table what main.js offers: root, speech, sound, act, send, forgive, replay, talk, landed */
export function createGame({ root, speech, sound, act, send, forgive, replay, talk, landed }) {
  const stage = document.getElementById("stage");
  const rail = document.getElementById("rail");
  const felt = createFelt(stage);
  const strip = createStrip(rail, { act, resume: () => send({ t: "take_control" }), closeDeclare: () => hand.close() });
  const hand = createHand(rail, {
    act,
    tell: (reason) => {
      strip.explain(reason);
      speech.say(reason);
    },
    declare: (choices) => {
      if (choices !== null) felt.closeLast();
      strip.declare(choices);
    },
    touched: forgive,
  });
  const scores = createScores(document.getElementById("scores"), document.getElementById("scores-button"), {
    open: (entry) => sheets.review(entry, shown()),
    opened: landed.drop,
  });
  const sheets = createSheets(root, {
    goOn: () => director.dismiss(),
    again: () => replay(rematch()),
    talk,
    opened: landed.sheet,
  });
  const roundLine = document.getElementById("round-line");
  let state = null;

  const director = createDirector({
    felt,
    sound,
    changed: draw,
    speak: (event, view) => speech.say(narrator(state.room, event, view)),
  });

  function rematch() {
    const { rounds, seats, turn_ms: turn } = state.room;
    return { rounds, level: seats.find((seat) => seat.kind === "bot")?.level || "medium", clocked: turn !== null };
  }

  /** What the page shows now: the newest facts, or the finished round until it is put away. */
  function shown() {
    const { held, trick, waitingWins } = director.state();
    const view = held ?? state.view;
    return {
      room: state.room,
      view,
      trick,
      waitingWins,
      closing: held !== null,
      prompt: held === null ? state.prompt : null,
      sending: state.sending,
      connected: state.connection === "connected",
      refused: state.refused,
      startsAt: state.startsAt,
    };
  }

  function draw() {
    const now = shown();
    const { summary, final } = director.state();
    felt.draw(now);
    hand.draw(now);
    strip.draw(now);
    scores.draw(now);
    sheets.draw(now, { summary, final });
    text(roundLine, now.view === null
      ? ""
      : say("Round %(round)s of %(rounds)s", { round: now.view.round, rounds: now.view.rounds }));
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || state === null) return;
    if (event.target.closest?.("input, textarea, select, dialog, .menu[open]")) return;
    if (event.key === "Escape") {
      hand.close();
      scores.close();
      felt.closeLast();
      sheets.closeReview();
      return;
    }
    if (!/^[0-7]$/.test(event.key) || sheets.open()) return;
    if (strip.bid(event.key) || strip.pick(event.key) || hand.choose(Number(event.key))) event.preventDefault();
  });

  return {
    render(next, before) {
      const first = state === null;
      state = next;
      if (first && next.view === null) speech.say(gettext("The match is about to start."));
      director.receive(next, before);
      if (next.refused !== null && next.refused !== before.refused) speech.say(next.refused.text);
      if (next.prompt !== null && next.prompt.step !== before.prompt?.step) speech.say(strip.question(next));
    },
    showClock(left, share, last) {
      felt.showClock(left, share, last);
      strip.showClock(left, share, last);
    },
  };
}
