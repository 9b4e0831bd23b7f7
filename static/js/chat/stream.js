// The fast path of streamed text: htmx would parse a document for every few letters. Frames with nothing but text
// of the live answer are collected and written 25 times a second, because every write costs a layout.
//
// What is written here is the block that Sage is writing. Once it is finished the server replaces it, formatted.

import { unmarked } from "./plain.js";

const TOGETHER_MS = 40;
const OPENING = '<div hx-swap-oob="beforeend:#live-text">';
const CLOSING = "</div>";
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

export function deltaText(frame) {
  if (!frame.startsWith(OPENING) || !frame.endsWith(CLOSING)) return null;
  const inner = frame.slice(OPENING.length, -CLOSING.length);
  if (inner.includes("<")) return null;
  return inner.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity]);
}

export class LiveText {
  #waiting = "";
  #isDue = false;
  #onText;
  #written = "";
  #shown = null;

  constructor(onText) {
    this.#onText = onText;
  }

  add(text) {
    this.#waiting += text;
    if (document.hidden) {
      this.flush();
      return;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.flush(), TOGETHER_MS);
  }

  // Before htmx swaps anything, the text that came earlier must be in place.
  flush() {
    this.#isDue = false;
    const text = this.#waiting;
    const target = document.getElementById("live-text");
    this.#waiting = "";
    if (!text || !target) return;
    this.#written += text;
    this.#show(target);
    this.#onText(text);
  }

  // Text that the server sent as it is: a snapshot, or what is left after a block was finished.
  shape() {
    const target = document.getElementById("live-text");
    if (!target || (target.firstChild === this.#shown && this.#shown)) return;
    this.#written = target.textContent;
    this.#shown = null;
    this.#show(target);
  }

  // Shows the words without their marks. What is there already stays, because a new text costs a new layout.
  #show(target) {
    const { words, isCode } = unmarked(this.#written);
    target.classList.toggle("is-code", isCode);
    const before = this.#shown?.parentNode === target ? this.#shown.data : null;
    if (before !== null && words.startsWith(before)) {
      if (words !== before) this.#shown.appendData(words.slice(before.length));
    } else if (words) {
      this.#shown = document.createTextNode(words);
      target.replaceChildren(this.#shown);
    } else {
      this.#shown = null;
      target.replaceChildren();
    }
  }
}
