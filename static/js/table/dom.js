/** Small helpers that make and change elements. */

/**
 * One HTML element.
 * @param {string} selector "tag.class.class"
 * @param {Record<string, unknown>} attributes set as attributes; functions as listeners ("onclick"); null and false left out
 * @param {...(Node|string|null)} children
 */
export function h(selector, attributes = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  set(element, attributes);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Set attributes that differ; null and false remove, true sets an empty one. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== (value === true ? "" : String(value))) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  return element;
}

/** Change text only when it differs, so that readers and selections are left alone. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
  return element;
}

/** Rebuild an element only when the key of what it shows has changed. */
export function redraw(element, key, build) {
  if (element.dataset.drawn === key) return false;
  element.dataset.drawn = key;
  element.replaceChildren(...[build()].flat().filter((child) => child !== null && child !== undefined));
  return true;
}

/** Whether things may move: the setting and the device together. */
export const moving = () => document.documentElement.dataset.motion !== "off" && !document.hidden;

/** A wait that `hurry` can cut short. */
export function patience() {
  let wakeUp = null;
  return {
    wait(ms) {
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        function done() {
          clearTimeout(timer);
          wakeUp = null;
          resolve();
        }
        wakeUp = done;
      });
    },
    hurry() {
      wakeUp?.();
    },
  };
}
