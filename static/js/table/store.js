/** What the table page knows, as a pure reducer over frames, socket states and the player's own acts. */

/**
 * connection: "connecting" | "connected" | "reconnecting" | "closed"; `closed` says why it will not come back, and with
 * `live` that nothing was missed before.
 * v: newest version drawn; lastEvent: number of the newest event seen; events: those of this very step.
 * clock: {left, at} in ms and performance time, or null; startsAt, expiresAt, expectedUntil: performance times or null; sending: {id, step, do} until the step is over; sent: id of the last act.
 */
export const initial = Object.freeze({
  connection: "connecting",
  closed: null,
  v: -1,
  room: null,
  view: null,
  prompt: null,
  clock: null,
  lastEvent: -1,
  events: [],
  sending: null,
  sent: null,
  refused: null,
  startsAt: null,
  expiresAt: null,
  expectedUntil: null,
});

/** The performance time that is so many ms away; null when nothing is to be waited for. */
const after = (now, ms) => (ms === null || ms === undefined ? null : now + ms);

function update(state, frame, now) {
  if (frame.v < state.v) return { ...state, events: [] };
  const fresh = frame.events.filter((event) => event.n === undefined || event.n > state.lastEvent);
  const lastEvent = frame.events.reduce((last, event) => Math.max(last, event.n ?? last), state.lastEvent);
  const step = frame.prompt?.step ?? null;
  const sending = state.sending !== null && state.sending.step === step ? state.sending : null;
  return {
    ...state,
    connection: "connected",
    v: frame.v,
    room: frame.room,
    view: frame.view,
    prompt: frame.prompt,
    clock: frame.ms_left === null || frame.ms_left === undefined ? null : { left: frame.ms_left, at: now },
    startsAt: after(now, frame.room.starts_in_ms),
    expiresAt: after(now, frame.room.expires_in_ms),
    expectedUntil: after(now, frame.room.expected?.ms),
    lastEvent,
    events: fresh,
    sending,
    refused: state.refused !== null && state.refused.step === step ? state.refused : null,
  };
}

function refused(state, frame) {
  // The table may have gone on before the answer came: that one was late is still said.
  const open = state.sending !== null && (frame.id === null || frame.id === state.sending.id);
  if (!open && (frame.id === null || frame.id !== state.sent)) return { ...state, events: [] };
  const silent = frame.code === "stale" && (!open || state.prompt === null);
  return {
    ...state,
    events: [],
    sending: null,
    refused: silent ? null : { code: frame.code, text: frame.text, step: state.prompt?.step ?? null },
  };
}

/**
 * The next state; never changes the old one.
 * Actions: {type: "frame", frame, now} · {type: "socket", connection, reason} · {type: "act", id, step, do} · {type: "clear"}.
 */
export function reduce(state, action) {
  switch (action.type) {
    case "frame":
      switch (action.frame.t) {
        case "update":
          return update(state, action.frame, action.now);
        case "refused":
          return refused(state, action.frame);
        case "bye":
          return { ...state, events: [], closed: { ...action.frame, live: state.connection === "connected" } };
        default:
          return state.events.length === 0 ? state : { ...state, events: [] };
      }
    case "socket":
      return {
        ...state,
        events: [],
        connection: action.connection,
        closed: action.connection === "closed" ? (state.closed ?? action.reason) : state.closed,
      };
    case "act":
      if (state.sending !== null || state.prompt?.step !== action.step) return state;
      return { ...state, events: [], refused: null, sent: action.id, sending: { id: action.id, step: action.step, do: action.do } };
    case "clear":
      return { ...state, events: [], refused: null };
    default:
      return state;
  }
}

/** A holder of the state that tells its listeners of every change. */
export function createStore() {
  let state = initial;
  const listeners = [];
  return {
    get: () => state,
    listen: (listener) => listeners.push(listener),
    dispatch(action) {
      const before = state;
      state = reduce(state, action);
      if (state !== before) for (const listener of listeners) listener(state, before);
      return state;
    },
  };
}
