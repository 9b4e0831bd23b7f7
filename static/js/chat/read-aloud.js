// Reading aloud: one answer by its button, or each answer while it is written. Stop ends both, and so does Escape.

import { newId } from "../parts.js";
import { Speech, canSpeak, choose, readVoices, speaks, voiceFor } from "./speech.js";
import { SentenceReader, sentencesIn } from "./spoken.js";

const STORED = `sage-read-aloud:${document.body.dataset.user}`;
const LAST_TAB = "sage-read-aloud-tab";

export class ReadAloud {
  #messages;
  #toggle;
  #stop;
  #dialog;
  #language = document.documentElement.lang;
  #speech = null;
  #reader;
  #turn = ""; // that is being read
  #isHearing = false; // the answer that is being written is read
  #early = []; // what came of it before the voices
  #stops = 0;
  #tab = newId();
  #others = null; // tabs, of which one reads at a time

  constructor({ messages, toggle, stop, dialog, chooser, names }) {
    if (!canSpeak) return;
    document.documentElement.classList.add("has-speech");
    [this.#messages, this.#toggle, this.#stop, this.#dialog] = [messages, toggle, stop, dialog];
    this.#reader = new SentenceReader(this.#language, names);
    this.#speech = new Speech(() => this.#show());
    messages.addEventListener("click", ({ target }) => this.#press(target.closest("[data-read-aloud]")));
    stop?.addEventListener("click", () => this.stop());
    toggle?.addEventListener("click", () => this.#switch());
    chooser?.addEventListener("click", () => this.#ask());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#speech.isSpeaking && !document.querySelector("dialog[open]")) this.stop();
    });
    document.addEventListener("sage:dictating", () => this.stop());
    this.#setUpDialog();
    this.#setUpTabs();
    this.#show();
  }

  // An answer may be written in several tabs: the one that was used last reads it.
  #setUpTabs() {
    const note = () => {
      try {
        if (!document.hidden) localStorage.setItem(LAST_TAB, this.#tab);
      } catch {
        // Storage is off, and no answer is read by itself.
      }
    };
    for (const name of ["focus", "pageshow"]) addEventListener(name, note);
    document.addEventListener("visibilitychange", note);
    note();
    this.#others = new BroadcastChannel("sage-read-aloud");
    this.#others.onmessage = () => this.stop();
  }

  // The answer that begins is read if the person wants all of them read.
  async begin() {
    if (!this.#isOn || !this.#isLastTab) return;
    this.stop();
    const stops = this.#stops;
    const voice = voiceFor(await readVoices(), this.#language);
    // A microphone would hear it.
    if (!voice || stops !== this.#stops || isDictating()) return;
    this.#others.postMessage("");
    this.#speech.use(voice);
    this.#isHearing = true;
    this.#speech.say(this.#early.splice(0));
  }

  hear(text) {
    if (!this.#isOn) return;
    const found = this.#reader.hear(text);
    if (this.#isHearing) this.#speech.say(found);
    else this.#early.push(...found);
  }

  finish() {
    if (!this.#isOn) return;
    const found = this.#reader.finish();
    if (this.#isHearing) this.#speech.say(found);
    else this.#early.push(...found);
  }

  // The answer begins anew.
  restart() {
    const wasHearing = this.#isHearing;
    this.stop();
    this.#isHearing = wasHearing;
  }

  stop() {
    if (!this.#speech) return;
    this.#stops += 1;
    this.#isHearing = false;
    this.#early = [];
    this.#turn = "";
    this.#reader.forget();
    this.#speech.stop();
  }

  get #isOn() {
    try {
      return this.#speech !== null && localStorage.getItem(STORED) === "on";
    } catch {
      return false;
    }
  }

  get #isLastTab() {
    try {
      return localStorage.getItem(LAST_TAB) === this.#tab;
    } catch {
      return false;
    }
  }

  #switch() {
    const isOn = !this.#isOn;
    try {
      if (isOn) localStorage.setItem(STORED, "on");
      else localStorage.removeItem(STORED);
    } catch {
      // Storage is off: answers are read one by one.
    }
    this.stop();
    if (isOn) this.#withVoice(() => {});
  }

  #press(button) {
    if (!button) return;
    const turn = button.closest(".turn");
    const isRead = this.#turn === turn.id;
    this.stop();
    if (isRead) return;
    this.#withVoice(() => {
      this.#others.postMessage("");
      this.#turn = turn.id;
      this.#speech.say([...turn.querySelectorAll(".prose")].flatMap((prose) => sentencesIn(prose, this.#language)));
    });
  }

  // Asks which voice it shall be, if this device has none of the language.
  async #withVoice(read) {
    const voice = voiceFor(await readVoices(), this.#language);
    if (!voice) return this.#ask();
    this.#speech.use(voice);
    read();
  }

  async #ask() {
    const voices = await readVoices();
    const [select] = this.#dialog.getElementsByTagName("select");
    const known = voices.toSorted((one, other) => this.#rank(one) - this.#rank(other));
    select.replaceChildren(...known.map((voice) => this.#option(voice)));
    select.value = (voiceFor(voices, this.#language) ?? known[0])?.voiceURI ?? "";
    const isMissing = !voices.some((voice) => voice.localService && speaks(voice, this.#language));
    this.#dialog.querySelector("[data-none]").hidden = !isMissing;
    this.#dialog.querySelector("[type=submit]").disabled = !voices.length;
    select.dispatchEvent(new Event("change"));
    this.#dialog.showModal();
  }

  #rank(voice) {
    return (speaks(voice, this.#language) ? 0 : 2) + (voice.localService ? 0 : 1);
  }

  #option(voice) {
    const { online } = this.#dialog.dataset;
    const name = voice.localService ? `${voice.name} · ${voice.lang}` : `${voice.name} · ${voice.lang} · ${online}`;
    return new Option(name, voice.voiceURI);
  }

  #setUpDialog() {
    const form = this.#dialog.querySelector("form");
    const select = form.querySelector("select");
    const chosen = () => speechSynthesis.getVoices().find(({ voiceURI }) => voiceURI === select.value);
    select.addEventListener("change", () => {
      form.querySelector("[data-warning]").hidden = chosen()?.localService ?? true;
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.stop();
      const voice = chosen();
      if (voice) choose(voice);
      this.#dialog.close();
    });
  }

  #show() {
    const { isSpeaking } = this.#speech;
    if (!isSpeaking && !this.#isHearing) this.#turn = "";
    if (this.#toggle) this.#toggle.ariaPressed = String(this.#isOn);
    if (this.#stop) {
      const hadFocus = document.activeElement === this.#stop;
      this.#stop.hidden = !isSpeaking;
      if (hadFocus && !isSpeaking) this.#toggle?.focus();
    }
    for (const button of this.#messages.querySelectorAll("[data-read-aloud]")) {
      const isRead = isSpeaking && button.closest(".turn").id === this.#turn;
      button.querySelector("span").textContent = isRead ? button.dataset.stop : button.dataset.readAloud;
      button.classList.toggle("is-reading", isRead);
    }
  }
}

function isDictating() {
  return document.querySelector("form[data-voice=opening], form[data-voice=recording]") !== null;
}
