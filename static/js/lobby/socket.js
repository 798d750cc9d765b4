/** The socket of a page that only listens (the lobby's, the balance's): pings seldom, notices silence, and comes back by itself, slower each time. */

const BACKOFF_MS = [1000, 2000, 4000, 8000, 16000];
const PING_MS = 10000;
const SILENCE_MS = 25000;
const OPENING_MS = 8000;
const GOING_AWAY = 4000;
const FINAL = [4400];

/**
 * @param {() => string} path of the socket on this host, asked for anew each time
 * @param {{version: () => number, onOpen: () => void, onFrame: (frame: object) => void,
 *          onState: (connected: boolean) => void, live?: string, final?: number[]}} hooks `live` is the frame that shows
 *          that the line works, `final` are the codes after which there is no coming back
 */
export function createSocket(path, { version, onOpen, onFrame, onState, live = "lobby", final = FINAL }) {
  let socket = null;
  let tries = 0;
  let over = false;
  let heard = 0;
  let retry = null;
  let opening = null;

  function open() {
    clearTimeout(retry);
    if (over || socket !== null) return;
    const url = new URL(path(), location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(url);
    socket = mine;
    opening = setTimeout(() => mine === socket && lose(mine, 0), OPENING_MS);
    mine.addEventListener("open", () => {
      if (mine !== socket) return;
      clearTimeout(opening);
      heard = performance.now();
      onOpen();
    });
    mine.addEventListener("message", (message) => {
      if (mine !== socket) return;
      heard = performance.now();
      let frame;
      try {
        frame = JSON.parse(message.data);
      } catch {
        return;
      }
      if (frame.t === live) {
        tries = 0;
        onState(true);
      }
      onFrame(frame);
    });
    mine.addEventListener("close", (event) => mine === socket && lose(mine, event.code));
  }

  function lose(mine, code) {
    socket = null;
    clearTimeout(opening);
    mine.close();
    over ||= final.includes(code);
    onState(false);
    const wait = code === GOING_AWAY && tries === 0
      ? Math.random() * 3000
      : BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)] * (0.75 + Math.random() * 0.5);
    tries += 1;
    clearTimeout(retry);
    retry = setTimeout(open, wait);
  }

  function send(frame) {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  }

  function wake() {
    if (socket !== null && performance.now() - heard > SILENCE_MS) lose(socket, 0);
    if (socket === null) {
      tries = 0;
      open();
    }
  }

  function beat() {
    if (socket?.readyState === WebSocket.OPEN) {
      if (performance.now() - heard > SILENCE_MS) lose(socket, 0);
      else send({ t: "ping", v: version() });
    }
    setTimeout(beat, PING_MS);
  }

  setTimeout(beat, Math.random() * PING_MS); // pages that were opened together do not ping together
  addEventListener("online", wake);
  addEventListener("offline", () => socket !== null && lose(socket, 0));
  addEventListener("pageshow", (event) => event.persisted && wake());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake());
  return { open, send };
}
