// Keeps the newest words in view while the reader is at the end, and leaves a reader alone who isn't.

const NEAR_END_PX = 96;

export class Scroll {
  #button;
  #isPinned = !location.hash;
  #isDue = false;
  #lastTop = scrollY;

  constructor(content, button) {
    this.#button = button;
    addEventListener("scroll", () => this.#look(), { passive: true });
    new ResizeObserver(() => this.follow()).observe(content);
    button.addEventListener("click", () => this.toEnd());
  }

  follow() {
    if (!this.#isPinned) {
      this.#look();
      return;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      if (this.#isPinned) scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    });
  }

  toEnd() {
    this.#pin(true);
    this.follow();
  }

  // Words that arrive faster than the page scrolls leave a gap below: only a move upwards is the reader's.
  #look() {
    const isNearEnd = document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_END_PX;
    const isMovedUp = scrollY < this.#lastTop;
    this.#lastTop = scrollY;
    if (isNearEnd) this.#pin(true);
    else if (isMovedUp || !this.#isPinned) this.#pin(false);
  }

  #pin(isPinned) {
    this.#isPinned = isPinned;
    this.#button.hidden = isPinned;
    // The browser keeps a reader's place when what is above them changes; at the end we keep it ourselves.
    document.documentElement.style.overflowAnchor = isPinned ? "none" : "";
  }
}
