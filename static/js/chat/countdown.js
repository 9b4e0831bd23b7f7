// Tries again by itself where a failed answer says how long to wait. Without scripts, its button does.

const MAX_TRIES = 5;
const SPREAD_MS = 3000; // Everybody was told the same moment.

export class Countdown {
  #readLast;
  #mayTry;
  #box = null;
  #until = 0;
  #timer = 0;
  #tries = 0;

  // `readLast` returns the last item before the open turn.
  constructor(readLast, mayTry) {
    this.#readLast = readLast;
    this.#mayTry = mayTry;
  }

  // After every change of the messages.
  settle() {
    const last = this.#readLast();
    const box = last?.querySelector("[data-retry-in]") ?? null;
    if (box === this.#box) return;
    this.#end();
    if (last?.matches(".turn") && !last.querySelector(".notice")) this.#tries = 0;
    if (!box || this.#tries >= MAX_TRIES) return;
    this.#box = box;
    this.#until = Date.now() + box.dataset.retryIn * 1000 + Math.random() * SPREAD_MS;
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  #tick() {
    if (!this.#box.isConnected) {
      this.#end();
      return;
    }
    const left = Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
    this.#box.textContent = this.#box.dataset.words.replace("{count}", left);
    this.#box.hidden = false;
    if (left || document.visibilityState !== "visible" || !this.#mayTry()) return;
    const button = this.#box.closest(".notice").querySelector("[value=retry]");
    clearInterval(this.#timer); // The box stays known, so that the same answer isn't tried twice.
    this.#tries += 1;
    this.#box.hidden = true;
    button.click();
  }

  #end() {
    clearInterval(this.#timer);
    if (this.#box) this.#box.hidden = true;
    this.#box = null;
  }
}
