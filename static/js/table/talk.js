/** Table talk: a few phrases and faces to say, bubbles at who speaks, and whom one does not want to hear. */

import { gettext, say } from "../words.js";
import { h, redraw, set, text } from "./dom.js";
import { drawEmote } from "./emotes.js";
import { nameOf, sideOf } from "./seats.js";

const BUBBLE_MS = 4000;

const PHRASES = () => ({
  hello: gettext("Hello"),
  good_luck: gettext("Good luck"),
  well_played: gettext("Well played"),
  nice_trick: gettext("Nice trick"),
  thanks: gettext("Thanks"),
  oops: gettext("Oops"),
  thinking: gettext("Let me think"),
  good_game: gettext("Good game"),
});

const EMOTES = () => ({
  smile: gettext("smiles"),
  laugh: gettext("laughs"),
  surprised: gettext("is surprised"),
  sad: gettext("is sad"),
  applause: gettext("applauds"),
  tea: gettext("has a tea"),
});

/** Those muted in this tab at this table, by seat: from the start on each is one person's, also in the result. */
function createMutes(table) {
  const key = `mute:${table}`;
  let muted = new Set();
  try {
    muted = new Set(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  } catch {
    // Nothing is kept in this browser: muting lasts as long as the page.
  }
  return {
    has: (seat) => muted.has(seat.number),
    toggle(seat) {
      if (!muted.delete(seat.number)) muted.add(seat.number);
      try {
        sessionStorage.setItem(key, JSON.stringify([...muted]));
      } catch {
        // As above.
      }
    },
  };
}

/**
 * @param {HTMLElement} stage where the felt lies
 * @param {object} hooks table (a name of this table that outlives a reload), ask(about, frame), speech
 */
export function createTalk(stage, { table, ask, speech }) {
  const mutes = createMutes(table);
  const bubbles = new Map();
  const note = h("p.talk-note", { role: "status" });
  const people = h("fieldset.talk-people", { hidden: true });
  const panel = h("section.talk-panel", { id: "talk", "aria-label": gettext("Table talk"), hidden: true },
    h("div.talk-phrases", {}, ...Object.entries(PHRASES()).map(([key, words]) => h("button.button.small", {
      type: "button", "data-say": key, onclick: () => tell(key),
    }, words))),
    h("div.talk-emotes", {}, ...Object.entries(EMOTES()).map(([key, words]) => h("button.icon-button", {
      type: "button", "data-say": key, "aria-label": words, title: words, onclick: () => tell(key),
    }, drawEmote(key)))),
    note, people);
  const button = h("button.talk-button", {
    type: "button", "data-action": "talk", "aria-expanded": "false", "aria-controls": "talk",
    "aria-label": gettext("Table talk"), title: gettext("Table talk"), hidden: true, onclick: () => (panel.hidden ? show() : close(true)),
  }, drawEmote("talk"), h("span.talk-word", {}, gettext("Talk")));
  let room = null;
  stage.append(button, panel);

  function show() {
    panel.hidden = false;
    text(note, "");
    set(button, { "aria-expanded": "true" });
    panel.querySelector("button").focus({ preventScroll: true });
    if (!stage.contains(panel)) panel.scrollIntoView({ block: "nearest" });
  }

  function close(focus) {
    if (panel.hidden) return;
    panel.hidden = true;
    set(button, { "aria-expanded": "false" });
    if (focus) button.focus({ preventScroll: true });
  }

  async function tell(key) {
    const answer = await ask("talk", { t: "talk", say: key });
    if (answer === null) return;
    if (answer.ok) close(true);
    else text(note, answer.code === "rate" ? gettext("A moment: you have just said something.") : answer.text);
  }

  function drawPeople() {
    const others = room.seats.filter((seat) => seat.kind === "human" && seat.number !== room.you && !seat.forfeited);
    const had = people.contains(document.activeElement);
    const fresh = redraw(people, JSON.stringify(others.map((seat) => [seat.number, seat.name, mutes.has(seat)])), () => [
      h("legend", {}, gettext("Mute")),
      ...others.map((seat) => h("label.check", {},
        h("input", { type: "checkbox", "data-mute": seat.number, checked: mutes.has(seat), onchange: () => mute(seat) }),
        h("span", {}, seat.name))),
    ]);
    people.hidden = others.length === 0;
    if (fresh && had) people.querySelector("input")?.focus({ preventScroll: true });
  }

  function mute(seat) {
    mutes.toggle(seat);
    if (mutes.has(seat)) hush(seat.number);
  }

  function hush(number) {
    const bubble = bubbles.get(number);
    if (bubble === undefined) return;
    clearTimeout(bubble.timer);
    bubble.element.remove();
    bubbles.delete(number);
  }

  /** The line of a seat in the result, once that is what everybody looks at. */
  const placeOf = (number) => (stage.contains(button) ? null : document.querySelector(`.places [data-seat="${number}"]`));

  function hear({ seat: number, say: key }) {
    const seat = room?.seats.find((one) => one.number === number);
    if (seat === undefined || mutes.has(seat)) return;
    const phrase = PHRASES()[key];
    const emote = EMOTES()[key];
    if (phrase === undefined && emote === undefined) return;
    hush(number);
    const place = placeOf(number);
    const element = h("div.bubble", { "data-side": place === null ? sideOf(room, number) : null, "data-from": number, "data-said": key, "aria-hidden": "true" },
      phrase ?? drawEmote(key));
    (place ?? stage.querySelector(".felt"))?.append(element);
    bubbles.set(number, { element, timer: setTimeout(() => hush(number), BUBBLE_MS) });
    speech.say(phrase === undefined
      ? `${nameOf(room, number)} ${emote}.`
      : say("%(name)s: %(words)s.", { name: nameOf(room, number), words: phrase }));
  }

  document.addEventListener("click", (event) => {
    if (!panel.hidden && !panel.contains(event.target) && !button.contains(event.target)) close(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) close(true);
  });

  return {
    /** For the sheet of the result, which covers the felt: people still talk until the room is gone. */
    button,
    panel,
    draw(next) {
      room = next;
      const live = room.visibility !== "solo" && ["starting", "playing", "finished"].includes(room.status);
      button.hidden = !live || room.you === null;
      if (button.hidden) close(false);
      else drawPeople();
    },
    hear,
  };
}
