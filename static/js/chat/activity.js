// Running tool calls: their count and label, each shown for at least 200 ms.

import { afterPress } from "../press.js";

const MINIMUM_MS = 200;

export class Activity {
  #element;
  #label;
  #running = new Map();
  #onChange;

  constructor(element, label, onChange) {
    this.#element = element;
    this.#label = label;
    this.#onChange = onChange;
  }

  get count() {
    return this.#running.size;
  }

  start(id, label) {
    if (this.#running.has(id)) return;
    this.#running.set(id, { label, since: performance.now() });
    this.#show();
  }

  finish(id) {
    const call = this.#running.get(id);
    if (!call) return;
    const left = MINIMUM_MS - (performance.now() - call.since);
    // Hiding it makes the page shorter, which moves what is above.
    if (left > 0) setTimeout(() => afterPress(() => this.#remove(id, call)), left);
    else this.#remove(id, call);
  }

  finishAll() {
    for (const id of [...this.#running.keys()]) this.finish(id);
  }

  #remove(id, call) {
    if (this.#running.get(id) !== call) return;
    this.#running.delete(id);
    this.#show();
  }

  #show() {
    const calls = [...this.#running.values()];
    this.#element.hidden = calls.length === 0;
    this.#element.dataset.count = calls.length;
    if (calls.length) {
      const several = calls.length > 1 ? ` (${calls.length})` : "";
      this.#label.textContent = `${calls.at(-1).label}…${several}`;
    }
    this.#onChange(calls.length);
  }
}
