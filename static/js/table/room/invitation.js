/** How others find a waiting room: its code to read out, a link to share, a picture for the phone beside you. */

import { gettext } from "../../words.js";
import { h, redraw, set, text } from "../dom.js";

const SHOWN_MS = 2500;

/** A code in groups that can be read out: "K7Q2-M9XA". */
export const grouped = (code) => code.replace(/(.{4})(?=.)/g, "$1-");

async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    // Without a secure page there is no clipboard: copy as browsers did before there was one.
    const area = h("textarea.hidden-text", { "aria-hidden": "true" });
    area.value = words;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** @param {string|undefined} qr address of the picture of the link */
export function createInvitation(qr) {
  const status = h("p.copied", { role: "status" });
  const body = h("div.invite-body");
  const element = h("section.invite", { "aria-labelledby": "invite-title" },
    h("div.invite-head", {}, h("h2", { id: "invite-title" }, gettext("Invite")), status), body);
  const picture = qr === undefined ? null : h("img.qr", {
    id: "qr", src: qr, width: 200, height: 200, alt: gettext("QR code of the link to this room"), loading: "lazy", hidden: true,
  });
  const opener = h("button.button.small", {
    type: "button", "data-action": "qr", "aria-expanded": "false", "aria-controls": "qr", onclick: showPicture,
  }, gettext("QR code"));
  let timer = null;

  function showPicture() {
    picture.hidden = !picture.hidden;
    set(opener, { "aria-expanded": String(!picture.hidden) });
    if (!picture.hidden) picture.scrollIntoView({ block: "nearest" });
  }

  async function give(words, done) {
    const focused = document.activeElement;
    text(status, (await copy(words)) ? done : gettext("This browser does not copy. Read the code out instead."));
    focused?.focus?.({ preventScroll: true });
    clearTimeout(timer);
    timer = setTimeout(() => text(status, ""), SHOWN_MS);
  }

  function build({ code, join_path: joinPath, watch }) {
    const link = joinPath === null || joinPath === undefined ? null : new URL(joinPath, location.href).href;
    const shared = { title: gettext("Domino Poker"), text: gettext("Join my room for Domino Poker"), url: link };
    const canShare = link !== null && typeof navigator.share === "function";
    return [
      h("span.room-code", { role: "img", "aria-label": [...code].join(" ") }, grouped(code)),
      h("div.link-row", {},
        h("button.button.small", { type: "button", "data-action": "copy-code", onclick: () => give(grouped(code), gettext("Code copied.")) }, gettext("Copy code")),
        link === null ? null : h("button.button.small", { type: "button", "data-action": "copy-link", onclick: () => give(link, gettext("Link copied.")) }, gettext("Copy link")),
        canShare ? h("button.button.small", { type: "button", "data-action": "share", onclick: () => navigator.share(shared).catch(() => {}) }, gettext("Share")) : null,
        link !== null && watch?.allowed && watch.path
          ? h("button.button.small", {
            type: "button", "data-action": "copy-watch", onclick: () => give(new URL(watch.path, location.href).href, gettext("Link for watching copied.")),
          }, gettext("Copy link to watch"))
          : null,
        qr === undefined ? null : opener),
      picture,
    ];
  }

  return {
    element,
    draw({ room }) {
      if (!room.code) return;
      redraw(body, `${room.code} ${room.join_path} ${room.watch?.allowed} ${room.watch?.path}`, () => build(room));
    },
  };
}
