// The message that is being sent: shown at once, stored until the server has it, sent again under the same id.

import { newId } from "../parts.js";
import { filled } from "../words.js";

const SLOW_MS = 8000;

export class Outbox {
  #key;
  #list;
  #template;
  #send;
  #timer = 0;
  #message = null; // { type, id, text, documents?: [{ id, name }] }
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

  // A message that an earlier page of this tab couldn't send.
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

  put(text, type = "message", documents = []) {
    this.#hold({ type, id: newId(), text, ...(documents.length ? { documents } : {}) });
    this.flush();
  }

  // A message can be sent twice under its id. An edit can't, so `settle` first checks whether it arrived.
  reopen() {
    this.#isUnsure = this.#message?.type === "edit";
    if (!this.#isUnsure) this.flush();
  }

  // After a snapshot, once `settle` has checked.
  resume() {
    if (this.#isUnsure) this.flush();
    this.#isUnsure = false;
  }

  flush() {
    if (!this.#message) return;
    clearTimeout(this.#timer);
    const { documents, ...frame } = this.#message;
    if (documents) frame.documents = documents.map(({ id }) => id);
    // A socket seems open for a while after the network has gone.
    const isSent = this.#send(frame) && navigator.onLine;
    this.#showState(isSent ? "" : "waiting", false);
    if (isSent) this.#timer = setTimeout(() => this.#showState("slow", true), SLOW_MS);
  }

  // The server has it, and its bubble replaces ours.
  accept(id) {
    if (this.#message?.id === id) this.#clear();
  }

  // Check whether the page shows the message by now.
  settle() {
    if (this.#message && document.querySelector(`#messages [data-client-id="${CSS.escape(this.#message.id)}"]`)) {
      this.#clear();
    }
  }

  // The server refused it: return it, so that its text and documents aren't lost.
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
    const count = message.documents?.length ?? 0;
    const note = bubble.querySelector(".said-documents");
    note.hidden = !count;
    note.textContent = filled(note.dataset.count, { count });
    bubble.querySelector("button").addEventListener("click", () => this.flush());
    this.#list.replaceChildren(bubble);
  }

  #clear() {
    clearTimeout(this.#timer);
    this.#message = null;
    this.#keep(null);
    this.#list.replaceChildren();
  }

  // `name` is that of a text of the template; empty for none.
  #showState(name, canSendAgain) {
    const state = this.#list.querySelector(".said-state");
    if (!state) return;
    state.querySelector("span").textContent = state.dataset[name] ?? "";
    state.querySelector("button").hidden = !canSendAgain;
  }

  #keep(message) {
    try {
      if (message) sessionStorage.setItem(this.#key, JSON.stringify(message));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Storage is off: it lives as long as the page.
    }
  }
}
