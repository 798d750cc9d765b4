/** Deals a finished round again from its published key, and compares with its seal and its record. */

import { gettext, say } from "./words.js";
import { drawTile } from "./table/tiles.js";
import { h } from "./table/dom.js";

const HAND = 7;
const NUMBERS = [0, 1, 2, 3, 4, 5, 6];
const TILES = NUMBERS.flatMap((a) => NUMBERS.filter((b) => b >= a).map((b) => `${a}-${b}`));
const encoder = new TextEncoder();

const toHex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function fromHex(text) {
  return new Uint8Array(text.match(/../g).map((pair) => Number.parseInt(pair, 16)));
}

/** The seal of a key and a salt, both in hex: SHA-256 of "key|salt", in hex. */
export async function seal(key, salt) {
  return toHex(await crypto.subtle.digest("SHA-256", encoder.encode(`${key}|${salt}`)));
}

/** The deck of a key in hex: the 28 tiles in the order of HMAC-SHA256(key, "a-b"). */
export async function deckOf(key) {
  const signing = await crypto.subtle.importKey("raw", fromHex(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = await Promise.all(TILES.map(async (tile) => [toHex(await crypto.subtle.sign("HMAC", signing, encoder.encode(tile))), tile]));
  return signed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tile]) => tile);
}

/** What fits, step by step. */
export async function verify(check) {
  const deck = await deckOf(check.key);
  const dealt = check.hands.map((hand, seat) => deck.slice(seat * HAND, (seat + 1) * HAND));
  const same = (a, b) => [...a].sort().join() === [...b].sort().join();
  return {
    dealt,
    seal: (await seal(check.key, check.salt)) === check.commitment,
    deck: deck.length === TILES.length && new Set(deck).size === TILES.length,
    hands: check.hands.every((hand, seat) => same(hand, dealt[seat])),
  };
}

function show(name, fits) {
  const item = document.querySelector(`[data-check="${name}"]`);
  item.dataset.fits = String(fits);
  item.querySelector("em").textContent = fits ? gettext("fits") : gettext("does not fit");
}

/** What a tile is called and how it is marked at the table. */
function marked({ marks }, tile) {
  return drawTile(tile, { trump: marks.trumps.includes(tile), ace: marks.aces[tile] ?? null });
}

function drawDeal(check, dealt) {
  document.getElementById("deal").replaceChildren(...check.hands.map((hand, seat) => h("section.deal-hand", {},
    h("h3", {}, check.names[seat], seat === check.dealer ? h("small", {}, ` ${gettext("dealer")}`) : null),
    h("ul.tile-row", { "aria-label": say("Tiles of %(name)s", { name: check.names[seat] }) },
      ...hand.map((tile) => h("li.deal-tile", { "data-fits": String(dealt[seat].includes(tile)) }, marked(check, tile)))))));
}

async function start() {
  const check = JSON.parse(document.getElementById("round-check").textContent);
  if (!globalThis.crypto?.subtle) {
    for (const item of document.querySelectorAll("[data-check] em")) item.textContent = gettext("needs a secure connection (https)");
    drawDeal(check, check.hands);
    return;
  }
  const result = await verify(check);
  for (const name of ["seal", "deck", "hands"]) show(name, result[name]);
  drawDeal(check, result.dealt);
}

if (document.getElementById("round-check")) start();
