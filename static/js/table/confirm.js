/** A question that must be answered before something is given up or paid. */

import { gettext } from "../words.js";
import { h } from "./dom.js";

let open = null;

/**
 * Ask, with the harmless answer focused.
 * @param {{title: string, text: string, yes: string|null, no?: string, action: string, harm?: boolean}} question
 *   `yes`: null where there is nothing to agree to; `harm`: something is lost by a yes
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, yes, no = gettext("Stay"), action, harm = true }) {
  open?.close();
  return new Promise((resolve) => {
    let answer = false;
    const close = (value) => {
      answer = value;
      sheet.close();
    };
    const sheet = h("dialog.sheet.ask", { "aria-labelledby": "ask-title", "aria-describedby": "ask-text" },
      h("h2", { id: "ask-title" }, title),
      h("p", { id: "ask-text" }, text),
      h("div.sheet-actions", {},
        yes === null ? null : h(harm ? "button.button.danger" : "button.button.primary", { type: "button", "data-action": `confirm-${action}`, onclick: () => close(true) }, yes),
        h(harm ? "button.button.primary" : "button.button", { type: "button", "data-action": "stay", onclick: () => close(false) }, no)));
    sheet.addEventListener("close", () => {
      sheet.remove();
      if (open === sheet) open = null;
      resolve(answer);
    });
    open = sheet;
    document.body.append(sheet);
    sheet.showModal();
    sheet.querySelector("[data-action=stay]").focus();
  });
}
