/** Translated words shared by all scripts: numbers, tiles and sentences with gaps. */

const identity = (text) => text;

export const gettext = (text) => (globalThis.gettext ?? identity)(text);

export const ngettext = (one, many, count) =>
  globalThis.ngettext ? globalThis.ngettext(one, many, count) : count === 1 ? one : many;

/** The text with each %(name)s replaced from the object. */
export function fill(text, values) {
  return text.replace(/%\((\w+)\)s/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Translate, then fill the gaps. */
export const say = (text, values = {}) => fill(gettext(text), values);

const NUMBERS = () => [
  gettext("zero"), gettext("one"), gettext("two"), gettext("three"),
  gettext("four"), gettext("five"), gettext("six"), gettext("seven"),
];

export const numberWord = (number) => NUMBERS()[Number(number)] ?? String(number);

const PLURALS = () => [
  gettext("zeros"), gettext("ones"), gettext("twos"), gettext("threes"),
  gettext("fours"), gettext("fives"), gettext("sixes"),
];

export const numberPlural = (number) => PLURALS()[Number(number)] ?? String(number);

/** "trump" or the number's word, for a request as the server writes it. */
export const requestWord = (request) => (request === "T" ? gettext("trump") : numberWord(request));

/**
 * The one text name of a tile, e.g. "three-five", "double six, ace of sixes", "one-four, trump".
 * @param {string} tile as the server writes it, "a-b"
 * @param {{trump?: boolean, ace?: string|null}} marks what the server says about the tile
 */
export function tileName(tile, { trump = false, ace = null } = {}) {
  const [a, b] = tile.split("-");
  const plain = a === b
    ? say("double %(number)s", { number: numberWord(a) })
    : say("%(low)s-%(high)s", { low: numberWord(a), high: numberWord(b) });
  if (trump) return say("%(tile)s, trump", { tile: plain });
  if (ace !== null) return say("%(tile)s, ace of %(suit)s", { tile: plain, suit: numberPlural(ace) });
  return plain;
}

/** A place as people say it: "1st", "2nd", "3rd", "4th". */
export const placeWord = (place) =>
  [gettext("1st"), gettext("2nd"), gettext("3rd"), gettext("4th")][place - 1] ?? String(place);

/** A score with a real minus sign; where text runs to the left, a mark keeps the sign before its number. */
export function points(number) {
  if (number >= 0) return String(number);
  return `${globalThis.document?.documentElement.dir === "rtl" ? "\u200e" : ""}\u2212${-number}`;
}
