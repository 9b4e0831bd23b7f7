// The four phases of the conversation as the reader's browser sees it, and all that moves between them.
// An event that a phase doesn't name leaves it as it is.

export const TRANSITIONS = {
  idle: { send: "streaming", begin: "streaming", tool: "tool" },
  streaming: { tool: "tool", stop: "completing", done: "idle", refuse: "idle" },
  tool: { toolsDone: "streaming", begin: "streaming", stop: "completing", done: "idle" },
  completing: { begin: "streaming", done: "idle", refuse: "idle", goOn: "streaming" },
};

// Whether a turn runs, as the server said last: what is sent starts none if it is refused, and a refusal ends none.
const RUNNING = { begin: true, tool: true, done: false };

export class Phase {
  #now = "idle";
  #isRunning = false;
  #listeners = [];

  get now() {
    return this.#now;
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  take(event) {
    this.#isRunning = RUNNING[event] ?? this.#isRunning;
    const next = TRANSITIONS[this.#now][event === "refuse" && this.#isRunning ? "goOn" : event];
    if (!next || next === this.#now) return;
    this.#now = next;
    for (const listener of this.#listeners) listener(next);
  }
}
