/** The socket of a table: opens, pings, notices silence and sleep, and comes back by itself. */

const BACKOFF_MS = [500, 1000, 2000, 4000, 8000];
const PING_MS = 2000;
const SILENCE_MS = 6000;
const CHECK_MS = 1500;
const OPENING_MS = 5000;
const SLEPT_MS = 3000;
const GOING_AWAY = 4000;
const RATE = 4029;
const SIGNED_OUT = 4401;
const SESSION_ENDED = 4403;
const RENEW_MS = 300;
const FINAL = new Set([4400, 4401, 4403, 4404, 4409]);

/**
 * @param {string} path of the socket on this host
 * @param {{version: () => number, onFrame: (frame: object) => void,
 *          onState: (connection: string, reason: object|null) => void}} hooks
 */
export function createSocket(path, { version, onFrame, onState }) {
  const url = new URL(path, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  let socket = null;
  let tries = 0;
  let over = false;
  let heard = 0;
  let retry = null;
  let opening = null;
  let check = null;
  let since = 0;
  let beaten = Date.now();
  // The session ended: signing up or a new password in another tab gives this browser another one, so it is tried once.
  let renewing = false;
  let farewell = "";

  function open() {
    clearTimeout(retry);
    retry = null;
    if (over) return;
    const mine = new WebSocket(url);
    socket = mine;
    since = performance.now();
    clearTimeout(opening);
    opening = setTimeout(() => mine === socket && mine.readyState === WebSocket.CONNECTING && lose(mine, 0), OPENING_MS);
    mine.addEventListener("open", () => {
      if (mine !== socket) return;
      heard = performance.now();
      ping();
    });
    mine.addEventListener("message", (message) => {
      if (mine !== socket) return;
      heard = performance.now();
      clearTimeout(check);
      check = null;
      let frame;
      try {
        frame = JSON.parse(message.data);
      } catch {
        return;
      }
      if (frame.t === "update") {
        tries = 0;
        renewing = false;
      }
      if (frame.t === "bye" && (frame.code === SESSION_ENDED || (renewing && frame.code === SIGNED_OUT))) {
        farewell ||= frame.code === SESSION_ENDED ? frame.text : "";
        return;
      }
      if (frame.t === "pong" && frame.v > version()) send({ t: "sync", v: Math.max(0, version()) });
      onFrame(frame);
    });
    mine.addEventListener("close", (event) => mine === socket && lose(mine, event.code));
  }

  /** Give this socket up and plan the next, unless its code says that there is none. */
  function lose(mine, code) {
    socket = null;
    clearTimeout(opening);
    clearTimeout(check);
    check = null;
    mine.close();
    if (over) return;
    if (code === SESSION_ENDED && !renewing) {
      renewing = true;
      retry = setTimeout(open, RENEW_MS);
      return;
    }
    if (FINAL.has(code)) {
      over = true;
      const ended = renewing && (code === SIGNED_OUT || code === SESSION_ENDED);
      onState("closed", ended ? { code: SESSION_ENDED, text: farewell } : { code, text: "" });
      return;
    }
    onState("reconnecting", null);
    const wait = code === GOING_AWAY && tries === 0
      ? Math.random() * 3000
      : BACKOFF_MS[Math.min(tries + (code === RATE ? 2 : 0), BACKOFF_MS.length - 1)] * (0.75 + Math.random() * 0.5);
    tries += 1;
    clearTimeout(retry);
    retry = setTimeout(open, wait);
  }

  function send(frame) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(frame));
    return true;
  }

  function ping() {
    send({ t: "ping", v: Math.max(0, version()) });
  }

  /**
   * Back from sleep, background or a dead network: ask at once, and do not wait long for the answer. What came in while
   * the page slept told the time of then, and some devices stop performance.now meanwhile: so the whole state is asked for.
   */
  function wake() {
    if (over) return;
    if (socket?.readyState === WebSocket.CONNECTING && performance.now() - since > CHECK_MS) lose(socket, 0);
    if (socket === null) {
      tries = 0;
      open();
    } else if (socket.readyState === WebSocket.OPEN && check === null) {
      const mine = socket;
      ping();
      if (version() > 0) send({ t: "sync", v: version() - 1 });
      check = setTimeout(() => {
        if (mine !== socket) return;
        tries = 0;
        lose(mine, 0);
        wake();
      }, CHECK_MS);
    }
  }

  /** A beat that is late by seconds means that the device slept, even when no event of the page says so. */
  function slept() {
    const gap = Date.now() - beaten;
    beaten = Date.now();
    return gap > PING_MS + SLEPT_MS;
  }

  setInterval(() => {
    if (slept()) {
      wake();
    } else if (socket?.readyState === WebSocket.OPEN) {
      if (performance.now() - heard > SILENCE_MS) lose(socket, 0);
      else ping();
    }
  }, PING_MS);
  addEventListener("online", wake);
  addEventListener("offline", () => socket !== null && lose(socket, 0));
  addEventListener("pageshow", (event) => event.persisted && wake());
  document.addEventListener("resume", wake);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake());

  return {
    open,
    send,
    /** Stop for good, e.g. before the page is left on purpose. */
    end() {
      over = true;
      socket?.close();
    },
  };
}
