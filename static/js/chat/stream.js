// The fast path of streamed text: htmx would parse a document for every few letters.
// Frames that hold nothing but text for the live answer are gathered and written once a picture.

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
    requestAnimationFrame(() => this.flush());
  }

  // Everything that htmx swaps must find the words before it already in place.
  flush() {
    this.#isDue = false;
    const text = this.#waiting;
    const target = document.getElementById("live-text");
    this.#waiting = "";
    if (!text || !target) return;
    if (target.lastChild instanceof Text) target.lastChild.appendData(text);
    else target.append(text);
    this.#onText(text);
  }
}
