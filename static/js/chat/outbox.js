// The one message on its way: shown at once, kept until the server has it, sent again under the same id.

const SLOW_MS = 8000;

export class Outbox {
  #key;
  #list;
  #template;
  #send;
  #timer = 0;
  #message = null;
  #isUnsure = false;

  constructor({ session, list, template, send }) {
    this.#key = `sage-outbox:${session}`;
    this.#list = list;
    this.#template = template;
    this.#send = send;
  }

  get isWaiting() {
    return this.#message !== null;
  }

  // What an earlier page of this tab couldn't hand over.
  restore() {
    try {
      const message = JSON.parse(sessionStorage.getItem(this.#key) ?? "null");
      if (message) this.#hold(message);
    } catch {
      this.#keep(null);
    }
    this.settle();
    return this.isWaiting;
  }

  put(text, type = "message") {
    this.#hold({ type, id: newId(), text });
    this.flush();
  }

  // A message may be sent twice under its id; a change may not: whether it has arrived is looked at first.
  reopen() {
    this.#isUnsure = this.#message?.type === "edit";
    if (!this.#isUnsure) this.flush();
  }

  // After a snapshot, when `settle` has looked.
  resume() {
    if (this.#isUnsure) this.flush();
    this.#isUnsure = false;
  }

  flush() {
    if (!this.#message) return;
    clearTimeout(this.#timer);
    const isSent = this.#send({ ...this.#message });
    this.#tell(isSent ? "" : "Waiting for the connection", false);
    this.#timer = setTimeout(() => this.#tell("Not sent yet", true), SLOW_MS);
  }

  // The server has it: its own bubble takes the place of ours.
  accept(id) {
    if (this.#message?.id === id) this.#clear();
  }

  // Looks whether the page shows it by now.
  settle() {
    if (this.#message && document.querySelector(`#messages [data-client-id="${CSS.escape(this.#message.id)}"]`)) {
      this.#clear();
    }
  }

  // It never will be: returns what it was, so that its words aren't lost.
  refuse() {
    const message = this.#message;
    this.#clear();
    return message;
  }

  #hold(message) {
    this.#message = message;
    this.#keep(message);
    message.type ??= "message";
    const bubble = this.#template.content.cloneNode(true);
    bubble.querySelector(".said-text").textContent = message.text;
    bubble.querySelector("button").addEventListener("click", () => this.flush());
    this.#list.replaceChildren(bubble);
  }

  #clear() {
    clearTimeout(this.#timer);
    this.#message = null;
    this.#keep(null);
    this.#list.replaceChildren();
  }

  #tell(words, canSendAgain) {
    const state = this.#list.querySelector(".said-state");
    if (!state) return;
    state.querySelector("span").textContent = words;
    state.querySelector("button").hidden = !canSendAgain;
  }

  #keep(message) {
    try {
      if (message) sessionStorage.setItem(this.#key, JSON.stringify(message));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Without storage it lives as long as the page.
    }
  }
}

// crypto.randomUUID exists on secure pages only, and people run Sage in their own network.
function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
