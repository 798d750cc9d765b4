/** Starts a table: joins store, socket, clock, the waiting room and the drawing of the game that is played there. */

import { gettext } from "../words.js";
import { createAsks, newId } from "./asks.js";
import { keepAwake } from "./awake.js";
import { createBanner } from "./banner.js";
import { createClock } from "./clock.js";
import { set } from "./dom.js";
import { createLanded } from "./landed.js";
import { createLeaving } from "./leaving.js";
import { createMoney } from "./money.js";
import { createRoom } from "./room.js";
import { news } from "./seats.js";
import { createSocket } from "./socket.js";
import { sound } from "./sound.js";
import { createSpeech } from "./speech.js";
import { createStore } from "./store.js";
import { createTalk } from "./talk.js";

const GAMES = { domino_poker: () => import("./games/domino_poker.js") };

const root = document.getElementById("table");
const visiting = root.dataset.mode === "visit";
const store = createStore();
const speech = createSpeech(document.getElementById("live"));
const banner = createBanner(root);
const money = createMoney(speech);
const quietTitle = document.title;
const landed = createLanded(document.getElementById("landed"));

let game = null;
let loading = null;
let clockSeconds = null;
let unsent = false;

const socket = createSocket(root.dataset.socket, {
  version: () => store.get().v,
  onFrame(frame) {
    if (frame.t === "talk") talk.hear(frame);
    else if (!asks.hear(frame)) store.dispatch({ type: "frame", frame, now: performance.now() });
  },
  onState(connection, reason) {
    asks.drop();
    store.dispatch({ type: "socket", connection, reason });
  },
});
const asks = createAsks(socket.send);
const leave = createLeaving(root, { state: store.get, end: socket.end });
const talk = createTalk(document.getElementById("stage"), { table: root.dataset.socket, ask: asks.ask, speech });
const room = createRoom(document.getElementById("room"), {
  ask: asks.ask, leave, speech, landed, visiting, qr: root.dataset.qr, lobby: root.dataset.lobby,
});

const clock = createClock(
  (left, share, last) => {
    clockSeconds = left === null ? null : Math.ceil(left / 1000);
    game?.showClock(left, share, last);
    showConnection();
  },
  () => store.get().prompt !== null && sound.tick(),
);

/** Answer the open question once; further clicks are ignored until the server has spoken. */
function act(choice) {
  const { prompt, sending } = store.get();
  if (prompt === null || sending !== null) return;
  const next = store.dispatch({ type: "act", id: newId(), step: prompt.step, do: choice });
  if (next.sending !== null) transmit();
}

function transmit() {
  const { id, step, do: choice } = store.get().sending;
  unsent = !socket.send({ t: "act", id, step, do: choice });
}

/** Whether the page shows the room before its match, or that this room is gone. */
const before = ({ room: seen, view }) => seen !== null && (seen.status === "waiting" || (seen.status === "destroyed" && view === null && seen.match === null));

function showConnection() {
  const state = store.get();
  set(root, { "data-status": state.connection === "connecting" ? "reconnecting" : state.connection });
  banner.draw(state, clockSeconds, state.connection === "closed" && before(state));
}

const leaveButton = document.querySelector(".top [data-action=leave]");

/** One leaves a room while it waits, and the table once the match goes on there. */
function showLeave({ room: seen }) {
  const words = seen?.status === "waiting" ? gettext("Leave the room") : gettext("Leave the table");
  set(leaveButton, { "aria-label": words, title: words });
}

function showTitle({ prompt, room: seen }) {
  const title = prompt !== null && seen?.status === "playing" ? gettext("Your turn · Domino Poker") : quietTitle;
  if (document.title !== title) document.title = title;
}

/** The module of a game, asked for once; null when it could not be fetched, and then asked for again. */
function fetchGame(key) {
  loading ??= GAMES[key]().catch(() => {
    loading = null;
    return null;
  });
  return loading;
}

async function loadGame(key) {
  const module = await fetchGame(key);
  if (module === null || game !== null) return;
  game = module.createGame({
    root,
    speech,
    sound,
    act,
    send: (frame) => socket.send(frame),
    forgive: () => store.dispatch({ type: "clear" }),
    replay,
    talk,
    landed,
  });
  const state = store.get();
  game.render({ ...state, events: [] }, { ...state, view: null, events: [] });
  landed.drawn();
  startClock(state);
  talk.draw(state.room);
  money.draw(state.room, null);
}

function startClock({ clock: left, room: seen }) {
  clock.set(left, seen?.turn_ms ?? null);
}

store.listen((state, old) => {
  showConnection();
  showTitle(state);
  showLeave(state);
  if (state.room === null) return;
  const waiting = before(state);
  room.show(waiting);
  set(root, { "data-room": state.room.status, "data-watching": state.room.you === null });
  if (waiting) {
    room.render(state, old.room);
    landed.drawn();
    fetchGame(state.room.game);
  } else if (game === null) {
    loadGame(state.room.game);
  } else {
    if (old.room !== state.room) for (const line of news(state.room, old.room)) speech.say(line);
    game.render(state, old);
  }
  // The button stands at the felt's edge, which is in its place once hand and felt are drawn.
  if (waiting || game !== null) talk.draw(state.room);
  if (state.room !== old.room) money.draw(state.room, old.room);
  if (state.clock !== old.clock) startClock(state);
  const back = old.connection !== "connected" && state.connection === "connected";
  if (state.sending !== null && (back || unsent) && state.connection === "connected") transmit();
  if (state.prompt !== null && old.prompt?.step !== state.prompt.step) sound.turn();
  if (state.room.status !== old.room?.status) keepAwake(state.room.status === "playing");
});

document.addEventListener("visibilitychange", () => keepAwake(store.get().room?.status === "playing"));

/** Post the hidden form that starts a new solo match like this one. */
function replay({ rounds, level, clocked }) {
  const form = document.getElementById("again-form");
  form.elements.rounds.value = rounds;
  form.elements.level.value = level;
  form.elements.clock.disabled = !clocked;
  socket.end();
  form.requestSubmit();
}

leaveButton.addEventListener("click", leave);
socket.open();
