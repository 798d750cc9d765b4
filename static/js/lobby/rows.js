/** The list of waiting rooms: rows come, change and go without moving what the visitor looks at or has in hand. */

import { ngettext, say } from "../words.js";

const AGES_MS = 10000;

const rank = (row) => row.dataset.rank.split(" ").map(Number);

function before(one, other) {
  const [a, b] = [rank(one), rank(other)];
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return a[i] < b[i];
  return false;
}

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/**
 * @param {HTMLElement} list
 * @param {{fits: (row: HTMLElement) => boolean, rest: () => HTMLElement, dress: (row: HTMLElement) => void}} hooks
 *   `rest` takes the focus of a row that went, `dress` changes a new row for whoever looks at this page
 */
export function createRows(list, { fits, rest, dress }) {
  const born = new WeakMap(); // when each row's table was opened, by this page's own clock

  function know(row, seconds) {
    born.set(row, performance.now() - seconds * 1000);
    row.hidden = !fits(row);
  }

  function showAges() {
    for (const span of list.querySelectorAll("[data-age]")) {
      const minutes = Math.floor((performance.now() - born.get(span.closest("li"))) / 60000);
      const text = minutes < 1 ? say("new") : say("%(minutes)s min", { minutes });
      if (span.textContent !== text) span.textContent = text;
    }
  }

  function insert(row) {
    const next = [...list.children].find((other) => other !== row && before(row, other));
    if (row.parentNode === list && row.nextElementSibling === (next ?? null)) return;
    list.insertBefore(row, next ?? null);
  }

  /** Keep what is under the pointer, in focus or at the top of the window where it is. */
  function steady(change) {
    const inFocus = list.contains(document.activeElement) ? document.activeElement.closest("li") : null;
    const onTop = scrollY > 0 ? [...list.children].find((row) => row.getBoundingClientRect().bottom > 0) : null;
    const anchor = list.querySelector("li:hover") ?? inFocus ?? onTop;
    const id = anchor?.id;
    const top = anchor?.getBoundingClientRect().top;
    change();
    const now = id ? document.getElementById(id) : null;
    if (now) scrollBy({ top: now.getBoundingClientRect().top - top, behavior: "instant" });
  }

  function put({ id, html, age }) {
    const fresh = parse(html);
    dress(fresh);
    const old = document.getElementById(`room-${id}`);
    know(fresh, age);
    if (old === null) {
      fresh.dataset.fresh = "";
      insert(fresh);
      return;
    }
    const active = old.contains(document.activeElement) ? document.activeElement : null;
    if (old.dataset.rank === fresh.dataset.rank) old.replaceWith(fresh);
    else {
      old.remove();
      insert(fresh);
    }
    if (active) (fresh.querySelector(active.matches("button") ? "button" : "a") ?? fresh.querySelector("a")).focus({ preventScroll: true });
  }

  function drop(row) {
    const next = row.contains(document.activeElement)
      ? (row.nextElementSibling ?? row.previousElementSibling)?.querySelector("a") ?? rest()
      : null;
    row.remove();
    next?.focus({ preventScroll: true });
  }

  /** Apply a frame of the lobby. */
  function apply({ rows, gone, from }) {
    steady(() => {
      if (from === null) {
        const kept = new Set(rows.map(({ id }) => `room-${id}`));
        for (const row of [...list.children]) if (!kept.has(row.id)) drop(row);
      }
      for (const id of gone) {
        const row = document.getElementById(`room-${id}`);
        if (row) drop(row);
      }
      for (const row of rows) put(row);
    });
    showAges();
  }

  function filter() {
    for (const row of list.children) row.hidden = !fits(row);
  }

  for (const row of list.children) born.set(row, performance.now() - Number(row.querySelector("[data-age]").dataset.age) * 1000);
  setInterval(showAges, AGES_MS);
  return {
    apply,
    filter,
    all: () => list.children.length,
    shown: () => [...list.children].filter((row) => !row.hidden).length,
    text: (count) => ngettext("%(count)s room waits for players", "%(count)s rooms wait for players", count).replace("%(count)s", count),
  };
}
