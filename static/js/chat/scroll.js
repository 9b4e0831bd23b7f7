// Keeps the newest text in view while the reader is at the end, and doesn't scroll otherwise. It never scrolls past
// an anchor (anchor.js), unless the reader does.

import { afterPress } from "../press.js";
import { anchor, fitsUnscrolled, isComposerReached, isInView, pendingQuestion, topOf, wordsOf } from "./anchor.js";

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
  #content;
  #button;
  #isPinned = ["", "#ending"].includes(location.hash);
  #isDue = false;
  #lastTop = scrollY;
  #lastHeight = 0;
  #hasResized = false;
  #lastTouched = -Infinity;
  #passed = null; // the anchor that the reader has scrolled past

  constructor(content, button) {
    this.#content = content;
    this.#button = button;
    addEventListener("scroll", () => this.#checkPlace(), { passive: true });
    for (const [name, isScrolling] of Object.entries(BY_HAND)) {
      const note = (event) => {
        if (isScrolling(event)) this.#lastTouched = performance.now();
      };
      addEventListener(name, note, { passive: true, capture: true });
    }
    new ResizeObserver(() => {
      this.#hasResized = true;
      this.#keepUp((action) => action()); // Layout is done and nothing is painted yet: no need to wait for a frame.
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
      this.#checkPlace();
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

  // Forget what the reader did before.
  toEnd() {
    this.#lastTouched = -Infinity;
    this.#pin(true);
    this.follow();
  }

  // The reader is shown something further up.
  release() {
    this.#pin(false);
  }

  #target() {
    const end = Math.max(0, document.documentElement.scrollHeight - innerHeight);
    if (fitsUnscrolled(this.#content)) return 0;
    const held = anchor();
    return held && nameOf(held) !== this.#passed ? Math.min(end, topOf(held)) : end;
  }

  // Decide whether the reader scrolled. Text that arrives faster than the page scrolls leaves a gap below, so only
  // a move upwards counts, or one past the anchor. The browser also moves up when the page gets shorter for a
  // moment, so while the page changes the move must be by hand. On a page at rest any move is the reader's,
  // including find-in-page and screen readers.
  #checkPlace() {
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

  // A reader who can read the open question is at the latest, and the button mustn't cover its answers. One who
  // can't reads it on the button.
  #showButton() {
    const asked = pendingQuestion();
    const isAtEnd = (this.#isPinned && distanceToEnd() < NEAR_END_PX) || isComposerReached();
    this.#button.hidden = asked ? isInView(asked) : isAtEnd;
    this.#button.classList.toggle("is-question", asked !== null);
    const { latest, asks } = this.#button.dataset;
    setText(this.#button.querySelector("span"), asked ? `${asks} ${wordsOf(asked)}` : latest);
  }

  #isByHand() {
    return performance.now() - this.#lastTouched < HANDS_ON_MS;
  }

  #pin(isPinned) {
    this.#isPinned = isPinned;
    this.#showButton();
    // The browser's scroll anchoring keeps the place of a reader further up; at the end we do it.
    document.documentElement.style.overflowAnchor = isPinned ? "none" : "";
  }
}

function setText(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

function distanceToEnd() {
  return document.documentElement.scrollHeight - innerHeight - scrollY;
}

// After a snapshot the same item is another element.
function nameOf(element) {
  return element && (element.closest("[id]")?.id ?? "");
}
