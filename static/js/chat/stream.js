// The fast path of streamed text: htmx would parse a document for every few letters. Frames with nothing but text
// of the live answer are collected and written 25 times a second, because every write costs a layout.

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
    append(target, text);
    this.#onText(text);
  }

  // Text that the server sent in one piece gets its paragraphs, too.
  shape() {
    const target = document.getElementById("live-text");
    if (!target || !target.textContent || target.firstElementChild) return;
    const text = target.textContent;
    target.replaceChildren();
    append(target, text);
  }
}

// Paragraphs have their final spacing. The line breaks between them stay, invisible, so that the element's text
// equals the answer's.
function append(target, text) {
  const last = target.lastElementChild;
  const paragraph = last?.localName === "p" ? last : target.appendChild(document.createElement("p"));
  const [first, ...rest] = `${takeTrailingBreak(paragraph)}${text}`.split("\n\n");
  write(paragraph, first);
  for (const part of rest) {
    const gap = document.createElement("span");
    gap.hidden = true;
    gap.textContent = "\n\n";
    const next = document.createElement("p");
    write(next, part);
    target.append(gap, next);
  }
}

function write(paragraph, text) {
  if (!text) return;
  if (paragraph.lastChild instanceof Text) paragraph.lastChild.appendData(text);
  else paragraph.append(text);
}

// A line break can arrive in two halves.
function takeTrailingBreak(paragraph) {
  const text = paragraph.lastChild;
  if (!(text instanceof Text) || !text.data.endsWith("\n")) return "";
  text.deleteData(text.length - 1, 1);
  return "\n";
}
