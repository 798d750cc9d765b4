/** Draws tiles: one function for every face and back on the site. */

import { gettext, tileName } from "../words.js";

const SVG = "http://www.w3.org/2000/svg";

const LOW = 27;
const MID = 50;
const HIGH = 73;

/** Where the pips of each number stand in a half of 100 x 100, as on a classical set. */
const PIPS = [
  [],
  [[MID, MID]],
  [[LOW, LOW], [HIGH, HIGH]],
  [[LOW, LOW], [MID, MID], [HIGH, HIGH]],
  [[LOW, LOW], [HIGH, LOW], [LOW, HIGH], [HIGH, HIGH]],
  [[LOW, LOW], [HIGH, LOW], [MID, MID], [LOW, HIGH], [HIGH, HIGH]],
  [[LOW, LOW], [LOW, MID], [LOW, HIGH], [HIGH, LOW], [HIGH, MID], [HIGH, HIGH]],
];

const RADIUS = 11;
const NOTCH = 8;
const THICKNESS = 6;

/** One SVG element with its attributes. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Outline of a tile inset by `by`; a notched one is cut at both ends of its divider, `deep` times as far as a tile is. */
function outline(by, notched, deep = 1) {
  const left = by;
  const right = 100 - by;
  const bottom = 200 - by;
  const r = RADIUS - by * 0.6;
  const n = notched ? NOTCH * deep : 0;
  const cut = (x, inward, first, second) => (notched ? `V${first}L${x + inward * n} 100L${x} ${second}` : "");
  return [
    `M${left + r} ${by}H${right - r}Q${right} ${by} ${right} ${by + r}`,
    cut(right, -1, 100 - n, 100 + n),
    `V${bottom - r}Q${right} ${bottom} ${right - r} ${bottom}H${left + r}Q${left} ${bottom} ${left} ${bottom - r}`,
    cut(left, 1, 100 + n, 100 - n),
    `V${by + r}Q${left} ${by} ${left + r} ${by}Z`,
  ].join("");
}

function star(x, y, size) {
  const points = [];
  for (let i = 0; i < 10; i += 1) {
    const radius = i % 2 === 0 ? size : size * 0.45;
    const angle = (Math.PI / 5) * i - Math.PI / 2;
    points.push(`${(x + radius * Math.cos(angle)).toFixed(2)},${(y + radius * Math.sin(angle)).toFixed(2)}`);
  }
  return svg("polygon", { points: points.join(" "), class: "tile-star" });
}

/** A small trump of solid brass, notched as in the hand; a shape that no ace and no number has. */
function trumpMark() {
  return svg("g", { transform: "translate(32 14) scale(0.36)" },
    svg("path", { d: outline(0, true, 2.4), class: "tile-trump" }),
    svg("circle", { cx: 50, cy: 100, r: 14, class: "tile-trump-pin" }));
}

function pips(number, top) {
  return PIPS[number].map(([x, y]) => svg("circle", { cx: x, cy: top + y, r: 10, class: `pip n${number}` }));
}

/**
 * A tile as an SVG element, 1:2 with its thickness below.
 * @param {string|null} tile "a-b" with a on top; null draws a back
 * @param {{trump?: boolean, ace?: string|null, silent?: boolean}} marks from the server; a silent drawing has no
 *   name of its own because the element around it has one
 */
export function drawTile(tile, { trump = false, ace = null, silent = false } = {}) {
  const root = svg("svg", { viewBox: "0 0 100 206", class: "tile", focusable: "false" });
  if (silent) {
    root.setAttribute("aria-hidden", "true");
  } else {
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", tile === null ? gettext("hidden tile") : tileName(tile, { trump, ace }));
  }
  if (tile === null) {
    root.append(
      svg("path", { d: outline(0, false), class: "tile-back-side", transform: `translate(0 ${THICKNESS})` }),
      svg("path", { d: outline(0, false), class: "tile-back" }),
      svg("path", { d: "M20 18L80 78M80 18L20 78M20 70L80 130M80 70L20 130M20 122L80 182M80 122L20 182", class: "tile-weave" }),
    );
    return root;
  }
  const [a, b] = tile.split("-");
  root.append(
    svg("path", { d: outline(0, trump), class: "tile-side", transform: `translate(0 ${THICKNESS})` }),
    svg("path", { d: outline(0, trump), class: "tile-face" }),
  );
  if (trump) root.append(svg("path", { d: outline(4, true), class: "tile-brass" }));
  root.append(svg("line", { x1: 18, y1: 100, x2: 82, y2: 100, class: "tile-divider" }), ...pips(a, 0), ...pips(b, 100));
  if (trump) root.append(svg("circle", { cx: 50, cy: 100, r: 6.5, class: "tile-pin" }));
  if (ace !== null) root.append(ace === a ? star(50, 14, 10) : star(50, 186, 10));
  return root;
}

/**
 * One half of a tile, 1:1: a number in pips, or the trump mark for "T".
 * @param {string} number "0".."6" or "T"
 * @param {{ace?: boolean}} marks whether it stands for the ace of its suit
 */
export function drawHalf(number, { ace = false } = {}) {
  const root = svg("svg", { viewBox: "0 0 100 104", class: "half", "aria-hidden": "true", focusable: "false" });
  const square = { x: 0, width: 100, height: 100, rx: 14 };
  root.append(svg("rect", { ...square, y: 4, class: "tile-side" }), svg("rect", { ...square, y: 0, class: "tile-face" }));
  if (number === "T") {
    root.append(
      svg("rect", { x: 8, y: 8, width: 84, height: 84, rx: 9, class: "tile-brass" }),
      trumpMark(),
    );
  } else {
    root.append(...pips(number, 0));
    if (ace) root.append(star(50, 14, 10));
  }
  return root;
}
