// Speaks sentences one after another, with a voice of this device unless the person has chosen another one: those send
// what they read to the company that provides them.

// Each person chooses, also where several use a browser.
const VOICE = `sage-voice:${document.body.dataset.user}`;
const VOICES_MS = 1000;

export const canSpeak = "speechSynthesis" in globalThis && "SpeechSynthesisUtterance" in globalThis;

export class Speech {
  #voice = null;
  #waiting = [];
  #spoken = null; // kept, as browsers drop utterances that nothing refers to
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
    addEventListener("pagehide", () => speechSynthesis.cancel());
  }

  get isSpeaking() {
    return this.#spoken !== null;
  }

  use(voice) {
    this.#voice = voice;
  }

  say(sentences) {
    this.#waiting.push(...sentences);
    this.#next();
  }

  stop() {
    this.#waiting = [];
    this.#spoken = null;
    speechSynthesis.cancel();
    this.#onChange();
  }

  #next() {
    if (this.#spoken || !this.#waiting.length) return;
    const utterance = new SpeechSynthesisUtterance(this.#waiting.shift());
    [utterance.voice, utterance.lang] = [this.#voice, this.#voice.lang];
    utterance.onend = utterance.onerror = () => {
      if (this.#spoken !== utterance) return;
      this.#spoken = null;
      this.#next();
      if (!this.#spoken) this.#onChange();
    };
    this.#spoken = utterance;
    speechSynthesis.speak(utterance);
    this.#onChange();
  }
}

// Some browsers load their voices when they are first asked for.
export async function readVoices() {
  const voices = speechSynthesis.getVoices();
  if (voices.length) return voices;
  await new Promise((resolve) => {
    speechSynthesis.addEventListener("voiceschanged", resolve, { once: true });
    setTimeout(resolve, VOICES_MS);
  });
  return speechSynthesis.getVoices();
}

// The voice that was chosen on this device, otherwise one of the device in the page's language; undefined if it has none.
export function voiceFor(voices, language) {
  const chosen = readChosen();
  const ours = voices.filter((voice) => voice.localService && speaks(voice, language));
  return voices.find(({ voiceURI }) => voiceURI === chosen) ?? ours.find((voice) => voice.default) ?? ours[0];
}

export function speaks(voice, language) {
  return voice.lang.toLowerCase().split(/[-_]/)[0] === language.toLowerCase().split("-")[0];
}

export function choose(voice) {
  try {
    localStorage.setItem(VOICE, voice.voiceURI);
  } catch {
    // Storage is off: it holds for this page.
  }
}

function readChosen() {
  try {
    return localStorage.getItem(VOICE);
  } catch {
    return null;
  }
}
