/** The lobby page: live rows, the filter, forms that are sent once, and a quiet word when the line is lost. */

import { createRows } from "./lobby/rows.js";
import { createSocket } from "./lobby/socket.js";
import { gettext, ngettext, fill, say } from "./words.js";

const RECONNECTING_AFTER_MS = 2000;
const ANNOUNCE_EVERY_MS = 20000;
const SENT_MS = 8000;

const page = document.getElementById("lobby");
const filterForm = page.querySelector("[data-filter]");
const announcer = page.querySelector("[data-announce]");
const connection = page.querySelector("[data-connection]");
const purse = document.querySelector("[data-purse]");
const known = { v: 0, state: page.dataset.state, fresh: true };

// -- the filter ----------------------------------------------------------------------------------------------------

const chosen = (name) => new FormData(filterForm).get(name) ?? "";

const rows = createRows(page.querySelector("[data-rows]"), {
  fits: (row) => ["game", "fee"].every((name) => !chosen(name) || row.dataset[name] === chosen(name)),
  rest: () => document.getElementById("waiting-title"),
  dress,
});

/** Rows are drawn for everybody alike: the one of the room where one sits offers the way back, and a seat that cannot be
 * paid says so. */
function dress(row) {
  afford(row);
  if (row.dataset.room !== page.dataset.own) return;
  const [name, back] = page.querySelector("[data-own-row]").content.cloneNode(true).children;
  row.dataset.own = "";
  row.querySelector(".row-name a").textContent = name.textContent;
  row.querySelector("[data-sit], .row-full").replaceWith(back);
}

/** Whether this seat can be paid, with the fee that comes back for the seat that one has. It can be pressed all the same:
 * the server knows best, and its answer says what the seat would cost and win. */
function afford(row) {
  const seat = row.querySelector('[data-sit][name="agreed_fee"]');
  if (purse === null || seat === null) return;
  const coins = Number(purse.dataset.purse);
  const poor = Number(seat.value) > coins + Number(page.dataset.back ?? 0);
  seat.toggleAttribute("data-poor", poor);
  const told = seat.querySelector(".poor");
  if (!poor) told?.remove();
  else {
    const text = told ?? seat.appendChild(Object.assign(document.createElement("small"), { className: "poor" }));
    text.textContent = say("You have %(coins)s", { coins });
  }
}

document.addEventListener("balance", () => page.querySelectorAll("[data-room]").forEach(afford));
page.querySelectorAll("[data-room]").forEach(afford);

function showEmpty() {
  page.querySelector('[data-empty="none"]').hidden = rows.all() > 0;
  page.querySelector('[data-empty="filter"]').hidden = rows.all() === 0 || rows.shown() > 0;
}

function filterChanged() {
  const url = new URL(location.href);
  url.pathname = filterForm.getAttribute("action"); // an answer to a form has another address
  url.search = "";
  for (const name of ["game", "fee"]) {
    if (chosen(name)) url.searchParams.set(name, chosen(name));
  }
  history.replaceState(null, "", url);
  rows.filter();
  showEmpty();
}

filterForm.addEventListener("change", filterChanged);
filterForm.addEventListener("submit", (event) => event.preventDefault());
page.querySelector("[data-show-all]").addEventListener("click", (event) => {
  event.preventDefault();
  filterForm.querySelector("select").value = "";
  filterForm.querySelector('input[value=""]').checked = true;
  filterChanged();
  document.getElementById("waiting-title").focus({ preventScroll: true });
});

// -- the live rows -------------------------------------------------------------------------------------------------

let announcedAt = -Infinity;
let announced = rows.shown();
let lost = null;

/** Say how many rooms wait, seldom, and only when that has changed. */
function announce() {
  if (rows.shown() === announced || performance.now() - announcedAt < ANNOUNCE_EVERY_MS) return;
  announced = rows.shown();
  announcedAt = performance.now();
  announcer.textContent = rows.text(announced);
}

function showOnline({ players, tables }) {
  const text = [
    fill(ngettext("%(n)s player online", "%(n)s players online", players), { n: players }),
    fill(ngettext("%(n)s room in use", "%(n)s rooms in use", tables), { n: tables }),
  ].join(" · ");
  const place = page.querySelector("[data-online]");
  if (place.textContent !== text) place.textContent = text;
}

// A row that is changed between press and release would swallow the click: what comes meanwhile waits.
let pressed = false;
const held = [];

page.querySelector("[data-rows]").addEventListener("pointerdown", () => { pressed = true; });
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => {
    pressed = false;
    for (const frame of held.splice(0)) show(frame);
  }));
}

function onFrame(frame) {
  if (frame.t !== "lobby") return;
  if (pressed) held.push(frame);
  else show(frame);
}

function show(frame) {
  if (frame.from !== null && frame.from !== known.v && !known.fresh) {
    socket.send({ t: "sync", v: known.v }); // a gap: ask for everything
    return;
  }
  known.fresh = false;
  known.v = frame.v;
  known.state = frame.state;
  rows.apply(frame);
  showEmpty();
  showOnline(frame.online);
  announce();
}

function onState(connected) {
  page.dataset.live = connected ? "yes" : "no";
  clearTimeout(lost);
  if (connected) connection.textContent = "";
  else lost = setTimeout(() => { connection.textContent = gettext("Reconnecting"); }, RECONNECTING_AFTER_MS);
}

const socket = createSocket(() => `${page.dataset.socket}?state=${known.state}`, {
  version: () => known.v,
  onOpen: () => { known.fresh = true; },
  onFrame,
  onState,
});
socket.open();

// -- the forms -----------------------------------------------------------------------------------------------------

let sentAt = -Infinity;

// Whichever form: two clicks are one wish.
page.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-once]")) return;
  if (performance.now() - sentAt < SENT_MS) event.preventDefault();
  else sentAt = performance.now();
});
addEventListener("pageshow", () => { sentAt = -Infinity; });

for (const form of page.querySelectorAll("[data-with-name]")) {
  form.addEventListener("formdata", (event) => {
    const name = page.querySelector("[data-name]");
    if (name) event.formData.set("name", name.value);
  });
}
