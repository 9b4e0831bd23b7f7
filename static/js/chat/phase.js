// The four phases of a conversation in the browser and the events that move between them. An event that a phase
// doesn't name is ignored.

export const TRANSITIONS = {
  idle: { send: "streaming", begin: "streaming", tool: "tool" },
  streaming: { tool: "tool", stop: "completing", done: "idle", refuse: "idle" },
  tool: { toolsDone: "streaming", begin: "streaming", stop: "completing", done: "idle" },
  completing: { begin: "streaming", done: "idle", refuse: "idle", goOn: "streaming" },
};

// Whether a turn runs, as the server last said. A refused message starts no turn, and a refusal ends none.
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
