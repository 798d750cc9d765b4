/** Forms of accounts that are sent once: a second click would answer for the first one. */

const SENT_MS = 8000;
let sentAt = -Infinity;

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-once]")) return;
  if (performance.now() - sentAt < SENT_MS) event.preventDefault();
  else sentAt = performance.now();
});
addEventListener("pageshow", () => { sentAt = -Infinity; });
