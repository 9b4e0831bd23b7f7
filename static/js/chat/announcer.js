// Announces Sage's text to screen readers, a paragraph at a time and without markdown: single words would be noise.

import { plainWords } from "./plain.js";

export class Announcer {
  #element;
  #unsaid = "";

  constructor(element) {
    this.#element = element;
  }

  hear(text) {
    this.#unsaid += text;
    const end = this.#unsaid.lastIndexOf("\n\n");
    if (end < 0) return;
    this.say(plainWords(this.#unsaid.slice(0, end), this.#element.dataset));
    this.#unsaid = this.#unsaid.slice(end + 2);
  }

  finish() {
    if (this.#unsaid.trim()) this.say(plainWords(this.#unsaid, this.#element.dataset));
    this.#unsaid = "";
  }

  forget() {
    this.#unsaid = "";
  }

  say(text) {
    if (!text.trim()) return;
    const line = document.createElement("span");
    line.textContent = `${text.trim()} `;
    this.#element.append(line);
    while (this.#element.childElementCount > 4) this.#element.firstElementChild.remove();
  }
}
