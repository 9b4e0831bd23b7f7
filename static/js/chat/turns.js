// Puts messages and turns into the conversation, instead of htmx, which sends two events for each element that comes or
// goes: an answer has hundreds of them, and nothing in the conversation is htmx's.
//
// The open turn is the last of the messages, so that at its end it stays where it is (mend.js). The server sends it into
// a place of its own, where it also is until the page's script runs.

import { mend } from "./mend.js";

export function openTurnIn(messages) {
  return messages.querySelector(":scope > .turn.is-open");
}

export class Turns {
  #messages;
  #place;
  #history;
  #ended = null;

  constructor(messages, place, history) {
    this.#messages = messages;
    this.#place = place;
    this.#history = history;
    this.#open(place);
    this.end();
  }

  get open() {
    return openTurnIn(this.#messages);
  }

  // The last item before the open turn.
  get last() {
    const { open } = this;
    return open ? open.previousElementSibling : this.#messages.lastElementChild;
  }

  // Returns whether it has put a fragment into its target.
  swap(target, fragment) {
    if (target.id === "live-notes" && target.previousElementSibling) target.parentElement.prepend(target);
    if (target === this.#place) this.#open(fragment);
    else if (target === this.#messages) this.#add(fragment);
    else if (target.id === "live-round") this.#addToRounds(target, fragment);
    else return false;
    return true;
  }

  // After all swaps of a message: an ended turn that nothing came of goes. Notes without words are behind the round's words,
  // from where they go without a change to these.
  end() {
    if (this.#ended?.matches(".is-open")) this.#ended.remove();
    this.#ended = null;
    const notes = document.getElementById("live-notes");
    if (notes && !notes.textContent && notes.nextElementSibling) notes.parentElement.append(notes);
  }

  #open(fragment) {
    const turn = fragment.querySelector(":scope > .turn");
    this.#ended = turn ? null : this.open;
    if (!turn) return;
    this.open?.remove();
    const focused = turn.contains(document.activeElement) ? document.activeElement : null;
    // What was fetched meanwhile may have its end.
    this.#messages.querySelector(`:scope > #${CSS.escape(turn.id)}`)?.remove();
    this.#messages.append(turn);
    focused?.focus({ preventScroll: true }); // Somebody may be answering before the page's script runs.
  }

  #add(fragment) {
    const { open } = this;
    const ended = open && fragment.querySelector(`:scope > #${CSS.escape(open.id)}`);
    if (ended) {
      ended.remove();
      mend(open, ended);
    }
    this.#history.place(fragment);
    if (this.open) this.open.before(...fragment.childNodes);
    else this.#messages.append(...fragment.childNodes);
  }

  // Calls come before the round that is being written. A round that has ended stays in its place, and the next one follows.
  #addToRounds(live, fragment) {
    const ended = fragment.querySelector(":scope > .round");
    if (ended) {
      live.after(live.cloneNode(false));
      mend(live, ended);
    } else if (fragment.querySelector("#live-blocks")) {
      live.replaceChildren(...fragment.childNodes);
    } else {
      live.before(...fragment.childNodes);
    }
  }
}
