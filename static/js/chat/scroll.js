// Keeps the newest words in view while the reader is at the end, and leaves a reader alone who isn't.

const NEAR_END_PX = 96;

export class Scroll {
  #button;
  #isPinned = true;
  #isDue = false;

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
    this.#isPinned = true;
    this.#button.hidden = true;
    this.follow();
  }

  #look() {
    const end = document.documentElement.scrollHeight - innerHeight - scrollY;
    this.#isPinned = end < NEAR_END_PX;
    this.#button.hidden = this.#isPinned;
  }
}
