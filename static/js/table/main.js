/** Starts a table: joins store, socket, clock and the drawing of the game that is played there. */

import { gettext, say } from "../words.js";
import { createClock } from "./clock.js";
import { h, set, text } from "./dom.js";
import { createSocket } from "./socket.js";
import { sound } from "./sound.js";
import { createSpeech } from "./speech.js";
import { createStore } from "./store.js";

const GAMES = { domino_poker: () => import("./games/domino_poker.js") };

const root = document.getElementById("table");
const store = createStore();
const speech = createSpeech(document.getElementById("live"));
const quietTitle = document.title;
const banner = h("p.banner", { role: "status", hidden: true });
root.prepend(banner);

let game = null;
let awake = null;
let clockSeconds = null;
let unsent = false;

const socket = createSocket(root.dataset.socket, {
  version: () => store.get().v,
  onFrame: (frame) => store.dispatch({ type: "frame", frame, now: performance.now() }),
  onState: (connection, reason) => store.dispatch({ type: "socket", connection, reason }),
});

const clock = createClock(
  (left, share, last) => {
    clockSeconds = left === null ? null : Math.ceil(left / 1000);
    game?.showClock(left, share, last);
    showBanner();
  },
  () => store.get().prompt !== null && sound.tick(),
);

function newId() {
  return `c${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
}

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

function showBanner() {
  const { connection, closed, room } = store.get();
  const status = connection === "connecting" ? "reconnecting" : connection;
  set(root, { "data-status": status });
  const over = room?.status === "finished" || room?.status === "destroyed";
  if (connection === "closed" && !over) {
    const why = closed?.text || closedText(closed?.code);
    if (banner.dataset.shown !== why) {
      banner.replaceChildren(`${why} `, h("a", { href: root.dataset.home }, gettext("To the start page")));
      banner.dataset.shown = why;
    }
  } else if (connection === "reconnecting" && !over) {
    banner.dataset.shown = "reconnecting";
    text(banner, store.get().prompt !== null && clockSeconds !== null
      ? say("Reconnecting: your seat is kept, %(seconds)s s left on your turn.", { seconds: clockSeconds })
      : gettext("Reconnecting: your seat is kept."));
  } else {
    banner.dataset.shown = "";
  }
  banner.hidden = !banner.dataset.shown;
}

function closedText(code) {
  switch (code) {
    case 4404:
      return gettext("This table is not there any more.");
    case 4409:
      return gettext("Your seat was taken over on another device.");
    case 4400:
      return gettext("The page and the server do not understand each other. Please reload.");
    default:
      return gettext("Your session has ended.");
  }
}

async function keepAwake(playing) {
  if (!playing) {
    await awake?.release().catch(() => {});
    awake = null;
  } else if ((awake === null || awake.released) && document.visibilityState === "visible") {
    awake = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
  }
}

function showTitle({ prompt, room }) {
  const title = prompt !== null && room?.status === "playing" ? gettext("Your turn · Domino Poker") : quietTitle;
  if (document.title !== title) document.title = title;
}

async function loadGame(key) {
  const module = await GAMES[key]();
  game = module.createGame({
    root,
    speech,
    sound,
    act,
    send: (frame) => socket.send(frame),
    forgive: () => store.dispatch({ type: "clear" }),
    replay,
    leave: askToLeave,
  });
  const state = store.get();
  game.render({ ...state, events: [] }, { ...state, view: null, events: [] });
  startClock(state);
}

let loading = false;

function startClock({ clock: left, room }) {
  clock.set(left, room?.turn_ms ?? null);
}

store.listen((state, before) => {
  showBanner();
  showTitle(state);
  if (state.room === null) return;
  if (game === null) {
    if (!loading) {
      loading = true;
      loadGame(state.room.game);
    }
  } else {
    game.render(state, before);
  }
  if (state.clock !== before.clock) startClock(state);
  const back = before.connection !== "connected" && state.connection === "connected";
  if (state.sending !== null && (back || unsent) && state.connection === "connected") transmit();
  if (state.prompt !== null && before.prompt?.step !== state.prompt.step) sound.turn();
  if (state.room.status !== before.room?.status) keepAwake(state.room.status === "playing");
});

document.addEventListener("visibilitychange", () => keepAwake(store.get().room?.status === "playing"));

/** Post the hidden form that starts a new match like this one. */
function replay({ rounds, level, clocked }) {
  const form = document.getElementById("again-form");
  form.elements.rounds.value = rounds;
  form.elements.level.value = level;
  form.elements.clock.disabled = !clocked;
  socket.end();
  form.requestSubmit();
}

function askToLeave() {
  const { room } = store.get();
  const running = room?.status === "starting" || room?.status === "playing";
  if (!running) {
    location.assign(root.dataset.home);
    return;
  }
  let sheet = document.getElementById("leave-sheet");
  if (sheet === null) {
    sheet = h("dialog.sheet.ask", { id: "leave-sheet", "aria-labelledby": "leave-title" },
      h("h2", { id: "leave-title" }, gettext("Leave this match?")),
      h("p", {}, gettext("Your seat is given up for good and the match ends for you.")),
      h("div.sheet-actions", {},
        h("button.button.danger", { type: "button", "data-action": "confirm-leave", onclick: leave }, gettext("Leave the match")),
        h("button.button.primary", { type: "button", "data-action": "stay", onclick: () => sheet.close() }, gettext("Stay"))));
    document.body.append(sheet);
  }
  sheet.showModal();
  sheet.querySelector("[data-action=stay]").focus();
}

function leave() {
  socket.end();
  document.getElementById("leave-form").requestSubmit();
}

document.querySelector(".top [data-action=leave]").addEventListener("click", askToLeave);
socket.open();
