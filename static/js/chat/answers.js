// Several answers to one message. While it is the last message the server is told which one to go on from; further up
// another answer is only shown in the place of the chosen one, until the page is loaded again.

export class Answers {
  #choose;
  #direction = "";

  // `choose` returns whether it takes care of an answer.
  constructor(choose = () => false) {
    this.#choose = choose;
  }

  async open(event) {
    const link = event.target.closest(".answers a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.#direction = link.rel;
    const turn = link.closest(".turn");
    if (!this.#choose(turn, link.dataset.turn)) await this.#look(turn, link.href);
  }

  // The link that was pressed has been replaced with its turn.
  restoreFocus(turn) {
    const links = turn?.querySelectorAll(".answers a") ?? [];
    const next = [...links].find((link) => link.rel === this.#direction) ?? links[0];
    if (this.#direction && document.activeElement === document.body) next?.focus({ preventScroll: true });
    this.#direction = "";
  }

  async #look(turn, address) {
    try {
      const response = await fetch(address, { headers: { "HX-Request": "true" }, cache: "no-store" });
      if (!response.ok || response.redirected) throw new Error(response.statusText);
      const fragment = document.createRange().createContextualFragment(await response.text());
      const other = fragment.querySelector(".turn");
      turn.replaceWith(other);
      this.restoreFocus(other);
    } catch {
      // Offline the page that is here is worth more than one that can't be loaded.
      if (navigator.onLine) location.assign(address);
    }
  }
}
