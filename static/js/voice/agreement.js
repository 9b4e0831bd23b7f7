// Before the first recording: who hears it, and whether that is all right. The server stores the answer.

export class Agreement {
  #dialog;
  #then = null;

  constructor(dialog, words) {
    this.#dialog = dialog;
    this.isGiven = "agreed" in words;
    dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#give(event.target);
    });
    dialog.addEventListener("close", () => (this.#then = null));
  }

  // `then` is done once the person has agreed.
  ask(then) {
    this.#then = then;
    this.#dialog.querySelector("[role=alert]").textContent = "";
    this.#dialog.showModal();
  }

  async #give(form) {
    const then = this.#then;
    try {
      const body = new URLSearchParams(new FormData(form));
      const headers = { Accept: "application/json" };
      const response = await fetch(form.action, { method: "POST", body, headers, redirect: "error" });
      if (!response.ok) throw new Error(String(response.status));
    } catch {
      const { lost } = document.getElementById("toast").dataset;
      this.#dialog.querySelector("[role=alert]").textContent = lost;
      return;
    }
    this.isGiven = true;
    this.#dialog.close();
    then?.();
  }
}
