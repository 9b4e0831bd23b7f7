// Says that Sage is still working once nothing has come for a while, and takes that back with the next byte. Screen
// readers are told once a turn.

import { afterPress } from "../press.js";

const SILENT_MS = 4000;

export class Silence {
  #element;
  #isWorking;
  #say;
  #heardAt = 0;
  #timer = 0;
  #isTold = false;

  // `isWorking` returns whether words are due that nothing else on the page explains.
  constructor({ element, isWorking, say }) {
    this.#element = element;
    this.#isWorking = isWorking;
    this.#say = say;
  }

  // A turn begins.
  begin() {
    this.#isTold = false;
  }

  hear() {
    this.#heardAt = performance.now();
    if (!this.#element.hidden) afterPress(() => (this.#element.hidden = true));
    this.#timer ||= setTimeout(() => this.#check(), SILENT_MS);
  }

  // What else the page shows has changed.
  settle() {
    const isWorking = this.#isWorking();
    if (!isWorking && !this.#element.hidden) afterPress(() => (this.#element.hidden = true));
    if (isWorking && this.#element.hidden) this.#timer ||= setTimeout(() => this.#check(), SILENT_MS);
  }

  // One timer for all frames: it is set again for what is left since the last one.
  #check() {
    this.#timer = 0;
    if (!this.#isWorking()) return;
    const left = this.#heardAt + SILENT_MS - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#check(), left);
      return;
    }
    this.#element.hidden = false;
    if (!this.#isTold) this.#say(this.#element.textContent);
    this.#isTold = true;
  }
}
