// The fast path of streamed text: htmx would parse a document for every few letters. Frames with nothing but text or
// blocks of the live answer are collected and shown 20 times a second, because every change costs a layout.
//
// The text is that of the block which Sage is writing. Once it is finished the server sends it formatted.

import { Unfinished, shapeOf } from "./unfinished.js";

const TOGETHER_MS = 50;
const TEXT = '<div hx-swap-oob="beforeend:#live-text">';
const BLOCKS = '<div hx-swap-oob="beforebegin:#live-text">';
const CLOSING = "</div>";
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

function textIn(frame) {
  if (!frame.startsWith(TEXT) || !frame.endsWith(CLOSING)) return null;
  const inner = frame.slice(TEXT.length, -CLOSING.length);
  if (inner.includes("<")) return null;
  return inner.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity]);
}

// The server has sanitised the blocks, as it has all of a page's markup.
function blocksIn(frame) {
  const holder = document.createElement("template");
  holder.innerHTML = frame;
  const [added, rest] = holder.content.children;
  return { added, rest: rest.textContent };
}

export class LiveText {
  #onText;
  #preview = null;
  #written = ""; // of the unfinished block
  #unheard = "";
  #added = [];
  #isDue = false;

  constructor(onText) {
    this.#onText = onText;
  }

  // Returns whether a frame was one of these.
  take(frame) {
    const text = textIn(frame);
    if (text !== null) {
      this.#written += text;
      this.#unheard += text;
    } else if (frame.startsWith(BLOCKS)) {
      const { added, rest } = blocksIn(frame);
      this.#added.push(added);
      this.#written = rest;
    } else {
      return false;
    }
    this.#plan();
    return true;
  }

  #plan() {
    if (document.hidden) {
      this.flush();
      return;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.flush(), TOGETHER_MS);
  }

  // Before htmx swaps anything, what came earlier must be in place.
  flush() {
    this.#isDue = false;
    const added = this.#added.splice(0);
    const text = this.#unheard;
    this.#unheard = "";
    if (!this.#preview?.isShown) {
      this.#written = "";
      return;
    }
    if (added.length) this.#preview.remove();
    for (const each of added) append(document.getElementById("live-blocks"), each);
    this.#preview.show(shapeOf(this.#written));
    if (text) this.#onText(text);
  }

  // Take over the unfinished text that the server sent with a page, a turn or a snapshot.
  shape() {
    const sent = document.getElementById("live-text");
    if (!sent || this.#preview?.isShown) return;
    this.#written = sent.textContent;
    sent.remove();
    this.#preview = new Unfinished(document.getElementById("live-blocks"));
    this.#preview.show(shapeOf(this.#written));
  }
}

// Items continue the list before them, and rows without a head the table: as on a reload (markdown_worker.py).
function append(blocks, added) {
  const first = added.firstElementChild;
  const [more, place] = continued(first, blocks.lastElementChild);
  if (place) {
    place.append(...[...more.childNodes].slice(1)); // Both begin with a line break.
    first.nextSibling?.remove();
    first.remove();
  }
  blocks.append(...added.childNodes);
}

// What the first element adds to the last one before it, and where it goes; nothing if it is new.
function continued(first, last) {
  if (first?.tagName === "TABLE") {
    const body = last.querySelector("tbody");
    return body ? [first.querySelector("tbody"), body] : [first, last.querySelector("table")];
  }
  return ["UL", "OL"].includes(first?.tagName) && last?.tagName === first.tagName ? [first, last] : [];
}
