/** Settings of this browser (theme, motion, sound, pips): applied before the first paint, remembered, told to the page. */
(() => {
  "use strict";

  const KEY = "domino.settings";
  const DEFAULTS = { theme: "auto", motion: "auto", sound: "on", pips: "plain" };
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function read() {
    try {
      return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
    } catch {
      return { ...DEFAULTS };
    }
  }

  let settings = read();

  function apply() {
    root.dataset.theme = settings.theme === "auto" ? (dark.matches ? "dark" : "light") : settings.theme;
    root.dataset.motion = settings.motion === "off" || still.matches ? "off" : "on";
    root.dataset.sound = settings.sound;
    root.dataset.pips = settings.pips;
  }

  function set(name, value) {
    settings = { ...settings, [name]: value };
    try {
      localStorage.setItem(KEY, JSON.stringify(settings));
    } catch {
      // A browser that keeps nothing still obeys until the page is left.
    }
    apply();
    show();
    document.dispatchEvent(new CustomEvent("settings", { detail: settings }));
  }

  function show() {
    for (const input of document.querySelectorAll("[data-setting]")) input.checked = settings[input.dataset.setting] === input.value;
    for (const button of document.querySelectorAll("[data-toggle-sound]")) {
      button.setAttribute("aria-pressed", String(settings.sound === "on"));
    }
  }

  apply();
  dark.addEventListener("change", apply);
  still.addEventListener("change", apply);
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    settings = read();
    apply();
    show();
  });
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.addEventListener("change", (event) => {
      const input = event.target.closest?.("[data-setting]");
      if (input) set(input.dataset.setting, input.value);
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest?.("[data-toggle-sound]")) set("sound", settings.sound === "on" ? "off" : "on");
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        if (!menu.contains(event.target)) menu.open = false;
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    });
  });
})();
