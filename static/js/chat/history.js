// Fetches the conversation again when the page has missed some of it, and puts every item in its place.

import { afterPress } from "../press.js";
import { openTurnIn } from "./turns.js";

const ALSO = ["chat-title", "chat-status", "arc", "earlier", "ending"];

export class History {
  #list;
  #isFetching = false;
  #held = [];
  #replay;

  constructor(list, replay) {
    this.#list = list;
    this.#replay = replay;
  }

  get lastNumber() {
    const numbers = [...this.#list.querySelectorAll("[data-number]")].map((item) => Number(item.dataset.number));
    return Math.max(0, ...numbers);
  }

  // `cards` are the numbers and levels of messages that have a card: "3:concern 5:immediate".
  lacksCard(cards = "") {
    return cards.split(" ").filter(Boolean).some((each) => {
      const [number, level] = each.split(":");
      if (!document.getElementById(`message-${number}`)) return false;
      const card = document.getElementById(`safety-message-${number}`);
      return !card || (level === "immediate" && !card.classList.contains("is-immediate"));
    });
  }

  // Frames wait during a fetch: what they change may be replaced.
  holds(frame) {
    if (this.#isFetching) this.#held.push(frame);
    return this.#isFetching;
  }

  async fetchAgain() {
    if (this.#isFetching) return;
    this.#isFetching = true;
    try {
      const response = await fetch(location.pathname, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.getElementById("messages");
      await new Promise(afterPress);
      if (fresh) this.#renew(document.importNode(fresh, true));
      for (const id of ALSO) {
        const part = fresh && page.getElementById(id);
        if (part) document.getElementById(id)?.replaceChildren(...document.importNode(part, true).childNodes);
      }
    } catch {
      // The network failed again; the next connection brings a snapshot.
    } finally {
      this.#isFetching = false;
      const held = this.#held;
      this.#held = [];
      for (const frame of held) this.#replay(frame);
    }
  }

  // The open turn isn't part of what is fetched: it stays, unless it has ended.
  #renew(fresh) {
    const open = openTurnIn(this.#list);
    const isOpen = open && !fresh.querySelector(`:scope > #${CSS.escape(open.id)}`);
    for (const node of [...this.#list.childNodes]) if (!isOpen || node !== open) node.remove();
    this.#list.prepend(...fresh.childNodes);
  }

  // An item that is on the page is replaced. When a message is edited, what followed it goes.
  place(fragment) {
    for (const item of [...fragment.children]) {
      const present = item.id && document.getElementById(item.id);
      if (!present) continue;
      if (present.parentElement !== this.#list) {
        present.remove();
        continue;
      }
      if (item.classList.contains("said")) while (present.nextElementSibling) present.nextElementSibling.remove();
      present.replaceWith(item);
    }
  }
}
