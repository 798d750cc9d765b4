/** Requests that the server answers one by one, with an ack or with the reason why not. */

import { gettext } from "../words.js";

/** An id for something that is sent: sent again it is the same thing. */
export function newId() {
  return `c${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
}

/** @param {(frame: object) => boolean} send false when the connection is gone */
export function createAsks(send) {
  const open = new Map();

  const unreached = () => ({ ok: false, code: "offline", text: gettext("The connection is gone. Try again when it is back.") });

  return {
    /**
     * Send a request; a second one about the same thing is dropped while the first is open.
     * @param {string} about what it is about, e.g. "seat-2"
     * @param {object} frame without its id
     * @returns {Promise<{ok: boolean, code: string, text: string}|null>} null when it was dropped
     */
    ask(about, frame) {
      if ([...open.values()].some((item) => item.about === about)) return Promise.resolve(null);
      const id = newId();
      if (!send({ ...frame, id })) return Promise.resolve(unreached());
      return new Promise((resolve) => open.set(id, { about, resolve }));
    },
    /** Take an answer from the server; false when nobody here has asked. */
    hear(frame) {
      const item = open.get(frame.id);
      if (item === undefined || (frame.t !== "ack" && frame.t !== "refused")) return false;
      open.delete(frame.id);
      item.resolve({ ok: frame.t === "ack", code: frame.code ?? "", text: frame.text ?? "" });
      return true;
    },
    /** The connection is gone: what was done is seen in the next update. */
    drop() {
      for (const { resolve } of open.values()) resolve(unreached());
      open.clear();
    },
  };
}
