// The four phases of the conversation as the reader's browser sees it, and all that moves between them.
// An event that a phase doesn't name leaves it as it is.

export const TRANSITIONS = {
  idle: { send: "streaming", begin: "streaming", tool: "tool" },
  streaming: { tool: "tool", stop: "completing", done: "idle", refuse: "idle" },
  tool: { toolsDone: "streaming", begin: "streaming", stop: "completing", done: "idle" },
  completing: { begin: "streaming", done: "idle" },
};

export class Phase {
  #now = "idle";
  #listeners = [];

  get now() {
    return this.#now;
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  take(event) {
    const next = TRANSITIONS[this.#now][event];
    if (!next || next === this.#now) return;
    this.#now = next;
    for (const listener of this.#listeners) listener(next);
  }
}
