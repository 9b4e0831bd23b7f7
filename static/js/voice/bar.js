// What a form shows of a dictation: the button with the microphone, and a bar with a sentence, the time and what can be
// done now.

import { clockOf } from "./sound.js";

export class Bar {
  open;
  #bar;
  #form;

  constructor(form, template) {
    this.#form = form;
    const parts = template.content.cloneNode(true);
    [this.open, this.#bar] = parts.children;
    form.querySelector("[type=submit]").before(this.open);
    if (form.closest("dialog")) form.elements.namedItem("text").before(this.#bar);
    else form.prepend(this.#bar);
    form.classList.add("has-voice");
  }

  // Calls what belongs to the act of a button: done, again, cancel.
  onAct(acts) {
    this.#bar.addEventListener("click", ({ target }) => acts[target.closest("button")?.dataset.voice]?.());
  }

  show(phase, sentence) {
    const hadFocus = this.#bar.contains(document.activeElement);
    this.#form.dataset.voice = phase;
    this.#bar.hidden = phase === "idle";
    this.open.ariaPressed = String(phase === "recording" || phase === "opening");
    this.open.ariaDisabled = String(["sending", "stopped", "silent"].includes(phase));
    this.say(sentence);
    for (const button of this.#bar.querySelectorAll("[data-when]")) {
      button.hidden = !button.dataset.when.split(" ").includes(phase);
    }
    if (hadFocus && !this.#bar.contains(document.activeElement)) this.open.focus();
  }

  // The same words aren't read out again.
  say(sentence) {
    write(this.#bar.querySelector("[data-voice-state]"), sentence);
  }

  showTime(samples) {
    write(this.#bar.querySelector("[data-voice-time]"), clockOf(samples));
  }

  // `peak` is the loudest sample, from 0 to 1.
  showLevel(peak) {
    this.#bar.style.setProperty("--level", Math.min(1, Math.sqrt(peak) * 1.2).toFixed(2));
  }
}

function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
