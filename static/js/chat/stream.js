// The fast path of streamed text: htmx would parse a document for every few letters.
// Frames that hold nothing but text for the live answer are gathered and written twenty-five times a second: each time costs a layout.

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

  // Everything that htmx swaps must find the words before it already in place.
  flush() {
    this.#isDue = false;
    const text = this.#waiting;
    const target = document.getElementById("live-text");
    this.#waiting = "";
    if (!text || !target) return;
    append(target, text);
    this.#onText(text);
  }

  // Text that the server put there in one piece gets its paragraphs too.
  shape() {
    const target = document.getElementById("live-text");
    if (!target || !target.textContent || target.firstElementChild) return;
    const text = target.textContent;
    target.replaceChildren();
    append(target, text);
  }
}

// Paragraphs stand as far apart as they will when they are final. The line breaks between them stay, unseen,
// so that the element's text is the answer's text, character by character.
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

// A break may come in two halves.
function takeTrailingBreak(paragraph) {
  const text = paragraph.lastChild;
  if (!(text instanceof Text) || !text.data.endsWith("\n")) return "";
  text.deleteData(text.length - 1, 1);
  return "\n";
}
