// Keeps the newest words in view while the reader is at the end, and leaves a reader alone who isn't.

import { afterPress } from "../press.js";

const NEAR_END_PX = 96;
const HANDS_ON_MS = 1000;
const BY_HAND = {
  wheel: () => true,
  touchmove: () => true,
  keydown: (event) => ["ArrowUp", "PageUp", "Home", " ", "Tab"].includes(event.key),
  mousedown: (event) => event.button === 1 || event.target === document.documentElement, // the scroll bar
};

export class Scroll {
  #button;
  #isPinned = !location.hash;
  #isDue = false;
  #lastTop = scrollY;
  #lastHeight = 0;
  #hasResized = false;
  #lastTouched = -Infinity;

  constructor(content, button) {
    this.#button = button;
    addEventListener("scroll", () => this.#look(), { passive: true });
    for (const [name, isScrolling] of Object.entries(BY_HAND)) {
      const note = (event) => {
        if (isScrolling(event)) this.#lastTouched = performance.now();
      };
      addEventListener(name, note, { passive: true, capture: true });
    }
    new ResizeObserver(() => {
      this.#hasResized = true;
      this.#keepUp((action) => action()); // The layout is known and nothing is drawn yet: no frame more for it.
    }).observe(content);
    button.addEventListener("click", () => this.toEnd());
  }

  follow() {
    this.#keepUp(requestAnimationFrame);
  }

  #keepUp(soon) {
    if (!this.#isPinned) {
      this.#look();
      return;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    soon(() => {
      afterPress(() => {
        this.#isDue = false;
        if (!this.#isPinned) return;
        this.#lastHeight = document.documentElement.scrollHeight;
        this.#hasResized = false;
        scrollTo({ top: this.#lastHeight, behavior: "instant" });
      });
    });
  }

  toEnd() {
    this.#pin(true);
    this.follow();
  }

  // Words that arrive faster than the page scrolls leave a gap below: only a move upwards is the reader's. The
  // browser moves up, too, where the page was shorter for a moment: then it counts if it was by hand. On a page that
  // rests nobody else moves, be it a search for words or a screen reader that does it.
  #look() {
    const height = document.documentElement.scrollHeight;
    const isNearEnd = height - innerHeight - scrollY < NEAR_END_PX;
    const isMovedUp = scrollY < this.#lastTop;
    const isResting = height === this.#lastHeight && !this.#hasResized;
    this.#lastTop = scrollY;
    this.#lastHeight = height;
    if (isNearEnd) this.#pin(true);
    else if (!this.#isPinned || (isMovedUp && (isResting || this.#isByHand()))) this.#pin(false);
    else this.follow();
  }

  #isByHand() {
    return performance.now() - this.#lastTouched < HANDS_ON_MS;
  }

  #pin(isPinned) {
    this.#isPinned = isPinned;
    this.#button.hidden = isPinned;
    // The browser keeps a reader's place when what is above them changes; at the end we keep it ourselves.
    document.documentElement.style.overflowAnchor = isPinned ? "none" : "";
  }
}
