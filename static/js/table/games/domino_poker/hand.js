/** The own hand: tiles that can be chosen by tap, arrow or digit; what may be played is the prompt's to say. */

import { gettext, say, tileName } from "../../../words.js";
import { h, set } from "../../dom.js";
import { drawTile } from "../../tiles.js";
import { marksOf, ruleText } from "./narrator.js";

const LEAVING_MS = 400;

/**
 * @param {HTMLElement} rail
 * @param {object} hooks act(text), tell(reason), declare(choices|null), touched()
 */
export function createHand(rail, { act, tell, declare, touched }) {
  const element = h("div.hand", { role: "group", "aria-label": gettext("Your hand"), tabindex: "-1" });
  rail.append(element);
  const buttons = new Map();
  let open = null;
  let now = null;

  const choicesFor = (tile) => (now?.prompt?.kind === "play" ? now.prompt.choices.filter((choice) => choice.tile === tile) : []);

  function build(tile, marks) {
    const button = h("button.hand-tile", {
      type: "button",
      "data-hand-tile": tile,
      onclick: () => press(tile),
      onfocus: () => explain(tile),
    }, drawTile(tile, { ...marks, silent: true }), h("span.key", { "aria-hidden": "true" }));
    return button;
  }

  function press(tile) {
    if (now === null || now.sending !== null) return;
    const choices = choicesFor(tile);
    if (choices.length === 0) {
      explain(tile);
      return;
    }
    touched();
    if (choices.length === 1) {
      shut();
      act(choices[0].do);
    } else if (open === tile) {
      close();
    } else {
      openTile(tile, choices);
    }
  }

  function openTile(tile, choices) {
    open = tile;
    declare(choices);
    mark();
  }

  function shut() {
    if (open === null) return;
    open = null;
    declare(null);
    mark();
  }

  /** Close the two ends of a lead and go back to its tile. */
  function close() {
    const button = buttons.get(open);
    shut();
    button?.focus({ preventScroll: true });
  }

  function explain(tile) {
    if (now?.prompt?.kind !== "play" || choicesFor(tile).length > 0) return;
    tell(ruleText(now.prompt.rule));
  }

  function mark() {
    for (const [tile, button] of buttons) set(button, { "data-open": tile === open, "aria-expanded": choicesFor(tile).length > 1 ? String(tile === open) : null });
  }

  function draw(next) {
    now = next;
    const { view, prompt, sending } = next;
    const tiles = view?.hand ?? [];
    const focused = [...buttons].findIndex(([, button]) => button === document.activeElement);
    for (const [tile, button] of buttons) {
      if (tiles.includes(tile)) continue;
      buttons.delete(tile);
      leave(tile, button);
    }
    const asked = prompt?.kind === "play";
    const order = new Map();
    tiles.forEach((tile, index) => {
      const marks = marksOf(view, tile);
      const button = buttons.get(tile) ?? build(tile, marks);
      order.set(tile, button);
      if (!button.isConnected || element.children[index] !== button) element.insertBefore(button, element.children[index] ?? null);
      button.style.setProperty("--i", String(index - (tiles.length - 1) / 2));
      const playable = asked && choicesFor(tile).length > 0;
      const chosen = sending !== null && sending.do.split(" ")[1] === tile;
      const name = tileName(tile, marks);
      set(button, {
        "data-playable": String(playable),
        "data-dim": asked && !playable,
        "data-sending": chosen,
        "aria-disabled": asked && sending !== null ? "true" : null,
        "aria-label": asked && !playable ? say("%(tile)s, not playable now", { tile: name }) : name,
      });
      const key = button.querySelector(".key");
      if (key.textContent !== String(index + 1)) key.textContent = String(index + 1);
    });
    buttons.clear();
    for (const [tile, button] of order) buttons.set(tile, button);
    if (open !== null && choicesFor(open).length < 2) {
      open = null;
      declare(null);
    }
    mark();
    set(element, { "data-asked": asked && sending === null });
    if (focused >= 0 && !element.contains(document.activeElement)) {
      ([...buttons.values()][Math.min(focused, buttons.size - 1)] ?? element).focus({ preventScroll: true });
    }
  }

  /** A played tile stays a moment, unseen, so that its flight knows where it began. */
  function leave(tile, button) {
    const hadFocus = button === document.activeElement;
    set(button, { "data-leaving": tile, "data-hand-tile": null, "data-playable": null, tabindex: "-1", "aria-hidden": "true" });
    button.disabled = true;
    if (hadFocus) element.focus({ preventScroll: true });
    element.append(button);
    setTimeout(() => button.remove(), LEAVING_MS);
  }

  element.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const list = [...buttons.values()];
    const at = list.indexOf(document.activeElement);
    if (at < 0) return;
    const forward = (event.key === "ArrowRight") !== (document.documentElement.dir === "rtl");
    list[(at + (forward ? 1 : -1) + list.length) % list.length].focus();
    event.preventDefault();
  });

  return {
    draw,
    close,
    /** Move to the tile with this number, from 1. True when there is one. */
    choose(number) {
      const button = [...buttons.values()][number - 1];
      button?.focus();
      return button !== undefined;
    },
  };
}
