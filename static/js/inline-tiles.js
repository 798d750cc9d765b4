/** Draws the tiles that stand as text in pages: <span data-tile="3-5">3-5</span>, <span data-half="5">5</span>. */

import { gettext, numberWord, tileName } from "./words.js";
import { drawHalf, drawTile } from "./table/tiles.js";

function draw(element) {
  const { tile, half, trump, ace } = element.dataset;
  if (half !== undefined) {
    element.setAttribute("aria-label", half === "T" ? gettext("trump") : numberWord(half));
    element.replaceChildren(drawHalf(half));
  } else {
    const marks = { trump: trump !== undefined, ace: ace ?? null, silent: true };
    const face = tile === "" ? null : tile;
    element.setAttribute("aria-label", face === null ? gettext("hidden tile") : tileName(face, marks));
    element.replaceChildren(drawTile(face, marks));
  }
  element.setAttribute("role", "img");
  element.classList.add("drawn");
}

for (const element of document.querySelectorAll("[data-tile], [data-half]")) draw(element);
