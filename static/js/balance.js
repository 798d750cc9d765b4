/** The balance in the top bar: moved as coins move, in every open page, counted up or down quietly and said once. */

import { createSocket } from "./lobby/socket.js";

const COUNT_MS = 260;
const places = [...document.querySelectorAll("[data-coins]")];
const purse = document.querySelector("[data-purse]");
const news = document.querySelector("[data-purse-news]");
const still = () => document.documentElement.dataset.motion === "off" || document.hidden;
if (document.body.classList.contains("at-table")) Object.assign(purse, { target: "_blank", rel: "noopener" }); // play goes on
let coins = Number(purse.dataset.purse);
let counting = 0;

function write(number) {
  for (const place of places) place.textContent = String(number);
}

/** Count from one balance to the next; with reduced motion the new one fades in. */
function count(from, to) {
  cancelAnimationFrame(counting);
  if (still()) {
    write(to);
    purse.animate([{ opacity: 0.4 }, { opacity: 1 }], { duration: 200 });
    return;
  }
  const began = performance.now();
  const step = (now) => {
    const share = Math.min(1, Math.max(0, (now - began) / COUNT_MS));
    write(Math.round(from + (to - from) * (1 - (1 - share) ** 2)));
    if (share < 1) counting = requestAnimationFrame(step);
  };
  counting = requestAnimationFrame(step);
}

function onFrame(frame) {
  if (frame.t !== "balance" || frame.coins === coins) return;
  const before = coins;
  coins = frame.coins;
  purse.dataset.purse = String(coins);
  purse.dataset.moved = coins > before ? "up" : "down";
  for (const field of document.querySelectorAll("[data-fee-limit]")) field.max = String(coins);
  count(before, coins);
  news.textContent = `${purse.dataset.words} ${coins}.`;
  document.dispatchEvent(new CustomEvent("balance", { detail: { coins } }));
}

const socket = createSocket(() => "/ws/me/", {
  version: () => 0,
  onOpen: () => {},
  onFrame,
  onState: () => {},
  live: "balance",
  final: [4400, 4401],
});
socket.open();
