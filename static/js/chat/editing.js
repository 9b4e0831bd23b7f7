// Editing the last message: its text is in the composer until it is sent or cancelled; the draft is set aside.

import { setText } from "../composer.js";

export class Editing {
  #field;
  #action;
  #bar;
  #draft = "";

  constructor(form, bar) {
    this.#field = form.elements.namedItem("text");
    this.#action = form.elements.namedItem("do");
    this.#bar = bar;
    document.getElementById("editing-cancel").addEventListener("click", (event) => {
      event.preventDefault();
      this.end();
    });
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOn || event.isComposing) return;
      event.preventDefault();
      this.end();
    });
    if (this.isOn) history.replaceState(null, "", location.pathname);
  }

  get isOn() {
    return this.#action.value === "edit";
  }

  begin(text) {
    if (!this.isOn) this.#draft = this.#field.value;
    this.#action.value = "edit";
    this.#bar.hidden = false;
    setText(this.#field, text);
    this.#field.focus();
    this.#field.setSelectionRange(text.length, text.length);
  }

  // Put the draft back into the composer.
  end() {
    if (!this.isOn) return;
    this.#action.value = "";
    this.#bar.hidden = true;
    setText(this.#field, this.#draft);
    this.#draft = "";
    this.#field.focus();
  }
}
