/** Puts events on the felt one after the other, and keeps a finished round in sight until it is put away. */

import { moving, patience } from "../../dom.js";

const FLIGHT_MS = 230;
const TRICK_SEEN_MS = 900;
const TRICK_HURRIED_MS = 260;
const ROUND_END_MS = 350;

/** The finished round as it stood: the view before its last trick, not yet scored. */
function closingView(view, entry, newest) {
  return {
    ...view,
    round: entry.round,
    dealer: entry.dealer,
    hand: view.hand === null ? null : [],
    turn: null,
    phase: "playing",
    seats: newest.seats.map((seat, number) => ({
      ...seat,
      bid: entry.bids[number],
      tricks: entry.tricks[number],
      tiles: 0,
      total: view.seats[number].total,
    })),
  };
}

/** That round once it is scored. */
function scoredView(closing, entry, newest) {
  return { ...closing, scored: newest.scored, seats: closing.seats.map((seat, number) => ({ ...seat, total: entry.totals[number] })) };
}

const empty = () => ({ leader: null, request: null, plays: [], winning: null, winner: null });

/** The trick as the view has it, copied since plays are added to it. */
function settled(view) {
  const trick = view?.trick;
  if (!trick) return empty();
  return { leader: trick.leader, request: trick.request, plays: [...trick.plays], winning: trick.winning, winner: null };
}

/** What a trick was asked for, looked up where its tile lies now. */
function requestOf(view, { seat, tile }) {
  for (const trick of [view.trick, ...view.tricks]) {
    if (trick?.plays.some((play) => play.seat === seat && play.tile === tile)) return trick.request;
  }
  return null;
}

/**
 * @param {object} parts felt (flies and sweeps tiles), sound, changed (draw all again), speak(event, view)
 */
export function createDirector({ felt, sound, changed, speak }) {
  const queue = [];
  const pause = patience();
  let latest = null;
  let trick = empty();
  let waitingWins = [];
  let held = null;
  let summary = null;
  let final = false;
  let running = false;
  let release = null;

  function receive(state, before) {
    latest = state;
    const { view, events, room } = state;
    const ended = view?.result != null || (room.status !== "playing" && room.status !== "starting");
    if (view === null) {
      final = ended;
      changed();
      return;
    }
    if (before.view === null || document.hidden) {
      if (held === null || document.hidden) settle();
      keepSummary(events, before, view);
      if (summary === null) final = ended;
      for (const event of events) speak(event, view);
      changed();
      return;
    }
    if (summary !== null && room.turn_ms !== null && moved(state, before)) {
      dismiss();
      return;
    }
    if (held !== null && summary !== null) {
      changed();
      return;
    }
    keepRound(events, before, view);
    for (const event of events) {
      queue.push({ event, view });
      if (event.type === "TrickWon") waitingWins.push(event.seat);
      if (event.type === "TilePlayed") pause.hurry();
    }
    if (!running && queue.length === 0) {
      trick = settled(view);
      if (ended && summary === null) final = true;
    }
    changed();
    run();
  }

  /** With a clock the game goes on without anybody's leave: a bid or a question puts the summary away. */
  function moved(state, before) {
    return state.events.some((event) => event.type === "BidMade") || (state.prompt !== null && state.prompt.step !== before.prompt?.step);
  }

  function keepRound(events, before, view) {
    const entry = events.find((event) => event.type === "RoundScored");
    if (entry !== undefined && before.view !== null) held = closingView(before.view, entry, view);
  }

  /** In the background nothing is animated, but a scored round still waits to be seen. */
  function keepSummary(events, before, view) {
    const entry = events.find((event) => event.type === "RoundScored");
    if (entry === undefined || before.view === null) return;
    held = scoredView(closingView(before.view, entry, view), entry, view);
    summary = entry;
    trick = empty();
  }

  function settle() {
    const scored = queue.find((item) => item.event.type === "RoundScored");
    queue.length = 0;
    waitingWins = [];
    trick = settled(latest.view);
    if (scored !== undefined && held !== null) {
      // The round whose end was still on its way waits to be seen.
      held = scoredView(held, scored.event, scored.view);
      summary = scored.event;
      trick = empty();
    }
    pause.hurry();
  }

  async function run() {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      const { event, view } = queue.shift();
      await perform(event, view);
    }
    running = false;
    if (held === null) trick = settled(latest.view);
    if (summary === null && latest.view?.result != null && held === null) final = true;
    changed();
  }

  async function perform(event, view) {
    switch (event.type) {
      case "TilePlayed":
        return tilePlayed(event, view);
      case "TrickWon":
        return trickWon(event, view);
      case "RoundScored":
        return roundScored(event, view);
      case "BidMade":
        sound.bid();
        break;
      default:
    }
    speak(event, view);
  }

  async function tilePlayed(event, view) {
    if (trick.plays.some((play) => play.seat === event.seat && play.tile === event.tile)) return;
    if (trick.winner !== null || trick.plays.some((play) => play.seat === event.seat)) trick = empty();
    if (trick.plays.length === 0) trick = { ...empty(), leader: event.seat, request: requestOf(view, event) };
    trick.plays.push({ seat: event.seat, tile: event.tile, as: event.as });
    trick.winning = view.trick?.plays.some((play) => play.tile === event.tile) ? view.trick.winning : null;
    changed();
    if (event.seat === latest.room.you) sound.ownTile();
    else sound.otherTile();
    speak(event, { ...view, led: trick.plays.length === 1, request: trick.request });
    if (moving()) {
      felt.fly(event.seat, event.tile, FLIGHT_MS);
      await pause.wait(FLIGHT_MS);
    }
  }

  async function trickWon(event, view) {
    trick = { ...trick, winner: event.seat, winning: event.seat };
    changed();
    speak(event, view);
    const next = queue.some((item) => item.event.type === "TilePlayed");
    await pause.wait(next ? TRICK_HURRIED_MS : TRICK_SEEN_MS);
    sound.trick();
    await felt.sweep(event.seat);
    const waiting = waitingWins.indexOf(event.seat);
    if (waiting >= 0) waitingWins.splice(waiting, 1);
    trick = empty();
    changed();
  }

  async function roundScored(event, view) {
    await pause.wait(ROUND_END_MS);
    summary = event;
    held = scoredView(held, event, view);
    speak(event, view);
    changed();
    await new Promise((resolve) => {
      release = resolve;
    });
  }

  /** Put the summary away and show the newest facts. */
  function dismiss() {
    queue.length = 0;
    waitingWins = [];
    held = null;
    summary = null;
    trick = settled(latest.view);
    final = latest.view?.result != null || latest.room.status === "finished" || latest.room.status === "destroyed";
    changed();
    release?.();
    release = null;
  }

  return { receive, dismiss, state: () => ({ held, trick, waitingWins, summary, final }) };
}
