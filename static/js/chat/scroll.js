// Keeps the newest words in view while the reader is at the end, and leaves a reader alone who isn't. Where
// something must stay in view it scrolls no further than that, unless the reader does.

import { afterPress } from "../press.js";
import { anchor, isOnScreen, pendingQuestion, topOf } from "./anchor.js";

const NEAR_END_PX = 96;
const SAME_PLACE_PX = 4;
const HANDS_ON_MS = 1000;
const SCROLLING_KEYS = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " ", "Tab"];
const BY_HAND = {
  wheel: () => true,
  touchmove: () => true,
  keydown: (event) => SCROLLING_KEYS.includes(event.key),
  mousedown: (event) => event.button === 1 || event.target === document.documentElement, // the scroll bar
};

export class Scroll {
  #button;
  #isPinned = ["", "#ending"].includes(location.hash);
  #isDue = false;
  #lastTop = scrollY;
  #lastHeight = 0;
  #hasResized = false;
  #lastTouched = -Infinity;
  #passed = null; // the anchor that the reader has scrolled past

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
    button.addEventListener("click", () => {
      this.#passed = pendingQuestion() ? null : nameOf(anchor());
      this.toEnd();
    });
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
        scrollTo({ top: this.#target(), behavior: "instant" });
        this.#showButton();
      });
    });
  }

  // What the reader did before counts no more.
  toEnd() {
    this.#lastTouched = -Infinity;
    this.#pin(true);
    this.follow();
  }

  #target() {
    const end = Math.max(0, document.documentElement.scrollHeight - innerHeight);
    const held = anchor();
    return held && nameOf(held) !== this.#passed ? Math.min(end, topOf(held)) : end;
  }

  // Words that arrive faster than the page scrolls leave a gap below: only a move upwards is the reader's, or one
  // below what is held in view. The browser moves up, too, where the page was shorter for a moment: then it counts
  // if it was by hand. On a page that rests nobody else moves, be it a search for words or a screen reader that
  // does it.
  #look() {
    const height = document.documentElement.scrollHeight;
    const target = this.#target();
    const isAtEnd = distanceToEnd() < NEAR_END_PX;
    const isPast = scrollY > target + SAME_PLACE_PX;
    const isMoved = scrollY < this.#lastTop || isPast;
    const isResting = height === this.#lastHeight && !this.#hasResized;
    this.#lastTop = scrollY;
    this.#lastHeight = height;
    const isReaders = isMoved && (isResting || this.#isByHand());
    if (isPast && isAtEnd && isReaders) this.#passed = nameOf(anchor());
    if (isAtEnd || Math.abs(scrollY - target) <= SAME_PLACE_PX) this.#pin(true);
    else if (!this.#isPinned || isReaders) this.#pin(false);
    else this.follow();
  }

  // Whoever sees the question that waits is at the latest; nothing floats over its answers.
  #showButton() {
    const asked = pendingQuestion();
    const isAtEnd = this.#isPinned && distanceToEnd() < NEAR_END_PX;
    this.#button.hidden = isAtEnd || (asked !== null && isOnScreen(asked));
  }

  #isByHand() {
    return performance.now() - this.#lastTouched < HANDS_ON_MS;
  }

  #pin(isPinned) {
    this.#isPinned = isPinned;
    this.#showButton();
    // The browser keeps a reader's place when what is above them changes; at the end we keep it ourselves.
    document.documentElement.style.overflowAnchor = isPinned ? "none" : "";
  }
}

function distanceToEnd() {
  return document.documentElement.scrollHeight - innerHeight - scrollY;
}

// The same thing may be another element after a snapshot.
function nameOf(element) {
  return element && (element.closest("[id]")?.id ?? "");
}
