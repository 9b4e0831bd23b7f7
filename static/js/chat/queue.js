// What is sent while Sage answers: it waits as the next message and is sent when the turn has ended. More of it joins
// what waits. It outlives a reload of its tab, and can be edited or removed until it is sent.

import { charactersOf } from "../too-long.js";

export class Queue {
  #key;
  #list;
  #template;
  #mostCharacters;
  #mostDocuments;
  #message = null; // { text, documents: [{ id, name }] }

  // `onEdit` gets the message back, `onRemove` is told that there is none any more.
  constructor({ session, list, template, mostCharacters, mostDocuments, onEdit, onRemove }) {
    this.#key = `sage-queue:${session}`;
    this.#list = list;
    this.#template = template;
    this.#mostCharacters = mostCharacters;
    this.#mostDocuments = mostDocuments;
    this.#list.addEventListener("click", ({ target }) => {
      const action = target.closest("[data-queued]")?.dataset.queued;
      if (action === "edit") onEdit(this.take());
      if (action === "remove") onRemove(this.take());
    });
    try {
      this.#message = JSON.parse(sessionStorage.getItem(this.#key) ?? "null");
    } catch {
      this.#keep();
    }
    this.#show();
  }

  get isFull() {
    return this.#message !== null;
  }

  // Whether one message can hold what waits and this.
  fits(text, documents) {
    const joined = this.#with(text, documents);
    return charactersOf(joined.text) <= this.#mostCharacters && joined.documents.length <= this.#mostDocuments;
  }

  put(text, documents) {
    this.#message = this.#with(text, documents);
    this.#keep();
    this.#show();
  }

  take() {
    const message = this.#message;
    this.#message = null;
    this.#keep();
    this.#show();
    return message;
  }

  #with(text, documents) {
    const before = this.#message ?? { text: "", documents: [] };
    return {
      text: before.text ? `${before.text}\n\n${text}` : text,
      documents: [...before.documents, ...documents],
    };
  }

  #show() {
    if (!this.#message) {
      this.#list.replaceChildren();
      return;
    }
    const bubble = this.#template.content.cloneNode(true);
    bubble.querySelector(".said-text").textContent = this.#message.text;
    const note = bubble.querySelector(".said-documents");
    note.hidden = !this.#message.documents.length;
    note.textContent = this.#message.documents.map(({ name }) => name).join(", ");
    this.#list.replaceChildren(bubble);
  }

  #keep() {
    try {
      if (this.#message) sessionStorage.setItem(this.#key, JSON.stringify(this.#message));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Storage is off: it lives as long as the page.
    }
  }
}
