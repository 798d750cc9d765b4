/** The strip over the hand: what is asked of you, the bids, the two ends of a lead, refusals, auto-play. */

import { fill, gettext, ngettext, numberWord, say } from "../../../words.js";
import { h, redraw, set, text } from "../../dom.js";
import { nameOf } from "../../seats.js";
import { drawHalf } from "../../tiles.js";
import { meansText, ruleText } from "./narrator.js";

/**
 * @param {HTMLElement} rail
 * @param {{act: (text: string) => void, resume: () => void, closeDeclare: () => void}} hooks
 */
export function createStrip(rail, { act, resume, closeDeclare }) {
  const message = h("p.strip-message");
  const controls = h("div.strip-controls");
  const bar = h("div.turn-bar", { "aria-hidden": "true" });
  const element = h("div.strip", {}, bar, message, controls);
  rail.prepend(element);
  let now = null;
  let declared = null;
  let reason = null;
  let step = null;

  function sentence() {
    const { room, view, prompt, sending, refused } = now;
    if (room.you === null) return { tone: "soft", words: watching(room, view) };
    if (refused !== null) return { tone: "bad", words: refused.text };
    if (view === null) return { tone: "", words: "" };
    if (now.closing || view.phase === "over") return { tone: "", words: "" };
    if (sending !== null) {
      return { tone: "soft", words: now.connected ? gettext("Sending…") : gettext("Kept: sent as soon as the connection is back.") };
    }
    if (prompt !== null) {
      if (reason !== null) return { tone: "why", words: reason };
      if (declared !== null) return { tone: "turn", words: gettext("Which number do you ask for?") };
      return { tone: "turn", words: question(now) };
    }
    const own = room.seats[room.you];
    if (own.auto_play) return { tone: "warn", words: gettext("You are on auto-play: the table plays for you.") };
    if (own.missed > 0 && room.visibility !== "solo") {
      return { tone: "warn", words: fill(ngettext("You missed %(count)s turn. After three the table plays for you.", "You missed %(count)s turns. After three the table plays for you.", own.missed), { count: own.missed }) };
    }
    return { tone: "soft", words: turnText(room, view) };
  }

  function turnText(room, view) {
    if (view === null || view.turn === null || view.turn === room.you || now.closing || view.phase === "over") return "";
    return say(view.phase === "bidding" ? gettext("%(name)s is bidding") : gettext("%(name)s is to play"), { name: nameOf(room, view.turn) });
  }

  function watching(room, view) {
    const turn = turnText(room, view);
    return turn === "" ? gettext("You are watching") : say("You are watching · %(turn)s", { turn });
  }

  function question({ prompt }) {
    if (prompt.kind === "bid") return gettext("Your bid: how many tricks will you take?");
    return say("Your turn. %(rule)s", { rule: ruleText(prompt.rule) });
  }

  function draw(next) {
    now = next;
    const { prompt, sending, room } = next;
    if (prompt?.step !== step) {
      step = prompt?.step ?? null;
      reason = null;
    }
    const { tone, words } = sentence();
    text(message, words);
    set(message, { "data-tone": tone });
    set(element, { "data-mine": prompt !== null && sending === null });
    drawControls(prompt, sending, room);
  }

  function drawControls(prompt, sending, room) {
    const auto = prompt === null && room.you !== null && room.seats[room.you].auto_play && room.status === "playing";
    const kind = prompt?.kind === "bid" ? "bid" : declared !== null ? "declare" : auto ? "auto" : "";
    set(controls, { "data-kind": kind });
    const key = `${kind} ${prompt?.step} ${declared?.[0].do}`;
    const had = controls.contains(document.activeElement);
    const fresh = redraw(controls, key, () => {
      if (kind === "bid") return bids(prompt.choices);
      if (kind === "declare") return halves(declared);
      if (kind === "auto") return h("button.button.primary", { type: "button", "data-action": "resume", onclick: resume }, gettext("Play myself again"));
      return [];
    });
    if (fresh && had && kind === "") document.querySelector(".hand").focus({ preventScroll: true });
    for (const button of controls.querySelectorAll("[data-do]")) {
      set(button, { "aria-disabled": sending !== null ? "true" : null, "data-sending": sending?.do === button.dataset.do });
    }
  }

  function bids(choices) {
    return h("div.bids", { role: "group", "aria-label": gettext("Your bid") }, ...choices.map((choice) => h("button.bid", {
      type: "button",
      "data-bid": choice.bid,
      "data-do": choice.do,
      "aria-label": say("Bid %(bid)s", { bid: choice.bid }),
      onclick: () => act(choice.do),
    }, String(choice.bid))));
  }

  function halves(choices) {
    return [
      h("div.halves", { role: "group", "aria-label": gettext("Which number do you ask for?") }, ...choices.map((choice) => h("button.declare", {
        type: "button",
        "data-declare": choice.as,
        "data-do": choice.do,
        onclick: () => act(choice.do),
      },
      h("span.declare-half", {}, drawHalf(choice.as, { ace: choice.means === "ace" })),
      h("span.declare-words", {},
        h("strong", {}, say("Ask for %(number)s", { number: numberWord(choice.as) })),
        h("span", {}, meansText(choice)))))),
      h("button.icon-button.cancel", {
        type: "button", "data-action": "cancel-declare", "aria-label": gettext("Cancel"), title: gettext("Cancel"), onclick: closeDeclare,
      }, "×"),
    ];
  }

  return {
    draw,
    question: (state) => (state.prompt === null ? "" : question(state)),
    /** Say why a tile cannot be played. */
    explain(words) {
      reason = words;
      if (now !== null) draw(now);
    },
    /** Open the two ends of a lead, or close them with null. */
    declare(choices) {
      declared = choices;
      reason = null;
      if (now === null) return;
      draw(now);
      if (choices !== null) controls.querySelector("[data-declare]").focus({ preventScroll: true });
    },
    /** Bid this digit when bids are asked for. */
    bid(digit) {
      const button = controls.querySelector(`[data-bid="${digit}"]`);
      button?.click();
      return button !== null;
    },
    /** Declare this digit when a lead lies open. */
    pick(digit) {
      const button = controls.querySelector(`[data-declare="${digit}"]`);
      button?.click();
      return button !== null;
    },
    showClock(left, share, last) {
      const mine = now !== null && now.prompt !== null && left !== null;
      set(bar, { "data-on": mine, "data-last": mine && last });
      bar.style.setProperty("--left", mine ? share.toFixed(3) : "1");
    },
  };
}
