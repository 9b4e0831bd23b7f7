// The microphone of a form: its words come into the form's field, where they are read before anything is sent. Tapped it
// records until it is tapped again, held until it is let go. What can't be sent waits on this device.

import { Agreement } from "./agreement.js";
import { Bar } from "./bar.js";
import { alone, forget, keep, keepPiece, noteTaken, readKept, readPieces } from "./kept.js";
import { hasMicrophone, openMicrophone } from "./microphone.js";
import { NotSent, drop, isReached, pause, refusalOf, wordsOf } from "./sending.js";
import { MOST_SAMPLES, QUIET_SAMPLES, isQuiet, isSilent, wavOf } from "./sound.js";

const HELD_MS = 400;
const CLICK_MS = 500; // a press is followed by its click
const FIRST_RETRY_MS = 2000;
const MOST_RETRY_MS = 60_000;

// Loaded beside the bundle of a page, whose functions it gets: `newId`, `setText` and `toast`.
export function setUp(template, tools) {
  if (!hasMicrophone()) return;
  const agree = new Agreement(document.getElementById("voice-dialog"), template.dataset);
  for (const form of document.querySelectorAll("#composer, .quick, .capture-form")) {
    new Voice(form, template, agree, tools).resume();
  }
}

class Voice {
  #form;
  #field;
  #words; // the sentences of the page
  #agree;
  #tools;
  #bar;
  #microphone = null;
  #recording = null; // with its pieces and the number of its samples
  #pressedAt = 0;
  #releasedAt = 0;
  #sending = null;
  #retrying = null;
  #whenSettled = new Map(); // by the ids of recordings
  #phase = "idle"; // opening, recording, sending, stopped or silent: waits for the person

  constructor(form, template, agree, tools) {
    this.#form = form;
    this.#field = form.elements.namedItem("text");
    this.#words = template.dataset;
    [this.#agree, this.#tools] = [agree, tools];
    this.#bar = new Bar(form, template);
    this.#listen();
  }

  get #place() {
    return this.#form.dataset.draft ?? this.#form.getAttribute("action");
  }

  get #person() {
    return document.body.dataset.user;
  }

  #listen() {
    const { open } = this.#bar;
    open.addEventListener("pointerdown", (event) => this.#press(event));
    for (const name of ["pointerup", "pointercancel"]) open.addEventListener(name, () => this.#release());
    open.addEventListener("contextmenu", (event) => event.preventDefault());
    // Keys and screen readers click without a pointer.
    open.addEventListener("click", () => {
      if (Date.now() - this.#releasedAt > CLICK_MS) this.#toggle();
    });
    this.#bar.onAct({ done: () => this.#finish(), again: () => this.#sendAgain(), cancel: () => this.#discard() });
    this.#form.closest("dialog")?.addEventListener("close", () => this.#finish());
    const sendUnsent = () => this.#phase === "stopped" && this.#recording.isUnsent && this.#send();
    addEventListener("online", sendUnsent);
    // A page that isn't seen may be given silence, and may have lost its line.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#finish(this.#words.hidden);
      else sendUnsent();
    });
  }

  #press(event) {
    if (event.button !== 0) return;
    this.#pressedAt = Date.now();
    // The release comes here wherever the pointer is by then.
    this.#bar.open.setPointerCapture(event.pointerId);
    this.#toggle();
  }

  #release() {
    this.#releasedAt = Date.now();
    const isHeld = this.#releasedAt - this.#pressedAt >= HELD_MS;
    if (isHeld && this.#phase === "recording") this.#finish();
  }

  #toggle() {
    if (this.#phase === "recording") this.#finish();
    else if (this.#phase === "opening") this.#discard();
    else if (this.#phase === "idle") this.#begin();
  }

  async #begin() {
    if (!this.#agree.isGiven) return this.#agree.ask(() => this.#begin());
    document.dispatchEvent(new Event("sage:dictating"));
    this.#show("opening", this.#words.opening);
    const recording = { id: this.#tools.newId(), person: this.#person, place: this.#place, at: Date.now(), isWhole: false };
    this.#recording = { ...recording, pieces: [], samples: 0, quiet: 0 };
    this.#bar.showTime(this.#recording.samples);
    // Another tab doesn't take what this one records.
    alone(recording.id, async () => {
      try {
        await keep(recording);
        await this.#listenFor(recording.id);
      } catch (error) {
        if (this.#recording?.id === recording.id) this.#refuse(error);
      }
      await this.#untilOver(recording.id);
    });
  }

  // Raises `NotSent` with a sentence where no recording is taken, and what `openMicrophone` raises.
  async #listenFor(id) {
    const isCurrent = () => this.#recording?.id === id;
    const refusal = refusalOf(this.#server);
    const microphone = await openMicrophone(this.#words.worklet, {
      onPiece: (piece) => isCurrent() && this.#take(piece),
      onLost: () => isCurrent() && this.#finish(this.#words.lost),
    });
    if (isCurrent()) this.#microphone = microphone;
    else return microphone.close(); // it was cancelled meanwhile
    const sentence = await refusal;
    if (!isCurrent()) return undefined; // it was cancelled then, and has closed the microphone
    if (sentence) throw new NotSent(0, sentence);
    this.#show("recording", this.#words.recording);
    if (document.hidden) this.#finish(this.#words.hidden);
    return undefined;
  }

  #take({ samples, peak }) {
    const recording = this.#recording;
    keepPiece(recording.id, recording.pieces.length, samples);
    recording.pieces.push(samples);
    recording.samples += samples.length;
    recording.quiet = isQuiet(peak) ? recording.quiet + samples.length : 0;
    const { recording: heard, quiet } = this.#words;
    if (this.#phase === "recording") this.#bar.say(recording.quiet < QUIET_SAMPLES ? heard : quiet);
    this.#bar.showLevel(peak);
    this.#bar.showTime(recording.samples);
    if (recording.samples >= MOST_SAMPLES) this.#finish(this.#words.longest);
  }

  // Returns once the recording is kept as a whole; then it is sent.
  async #finish(why = "") {
    if (this.#phase !== "recording") return;
    this.#show("sending", why || this.#words.sending);
    await this.#closeMicrophone();
    const recording = this.#recording;
    if (!recording) return;
    if (!recording.samples) return this.#refuse({ name: "nothing" });
    await keep({ ...recording, pieces: undefined, isWhole: true });
    if (this.#recording === recording) await this.#send(why); // it wasn't cancelled meanwhile
  }

  // The agreement may have been taken back, or another server hears recordings now.
  #sendAgain() {
    const { id } = this.#recording;
    const send = () => this.#recording?.id === id && this.#phase === "stopped" && this.#send();
    if (this.#agree.isGiven) send();
    else this.#agree.ask(send);
  }

  async #send(why = "") {
    const { id, pieces } = this.#recording;
    const ids = (this.#recording.ids ??= new Set([id])); // those that the server knows it by
    this.#recording.isUnsent = false;
    if (isSilent(pieces)) return this.#stop(this.#words.silent, "silent");
    const sentence = why || this.#words.sending;
    this.#show("sending", sentence);
    this.#sending = new AbortController();
    const onWait = (isLate) => this.#phase === "sending" && this.#bar.say(isLate ? this.#words.late : sentence);
    const options = { ...this.#server, signal: this.#sending.signal, onTaken: (own) => ids.add(own), onWait };
    try {
      this.#put(await wordsOf(id, wavOf(pieces), options));
    } catch (error) {
      if (this.#phase === "sending") this.#fail(error);
    }
  }

  #put(words) {
    const { value } = this.#field;
    const recording = this.#recording;
    this.#tools.setText(this.#field, value.trim() ? `${value.trimEnd()} ${words}` : words);
    noteTaken(recording.id);
    this.#settle();
    this.#drop(recording);
    this.#show("idle", "");
    this.#tools.toast(this.#words.put);
    if (!this.#form.closest("dialog:not([open])")) this.#field.focus();
    this.#field.setSelectionRange(this.#field.value.length, this.#field.value.length);
  }

  #fail(error) {
    const { status, sentence } = error instanceof NotSent ? error : { status: 0, sentence: "" };
    this.#recording.isUnsent = status === 0;
    const { offline, signedOut, failed } = this.#words; // what the server says of 401 is for programs
    this.#stop({ 0: offline, 401: signedOut }[status] || sentence || failed);
    if (this.#recording.isUnsent) this.#sendOnceReached();
  }

  // Browsers tell when they are connected again, but not when the server is back. The waits go on growing where it answers
  // and takes no recording.
  async #sendOnceReached() {
    const recording = this.#recording;
    const retrying = (this.#retrying = {});
    const isUnsent = () => this.#retrying === retrying && this.#recording === recording && recording.isUnsent;
    while (isUnsent()) {
      const wait = recording.wait ?? FIRST_RETRY_MS;
      recording.wait = Math.min(MOST_RETRY_MS, 2 * wait);
      await pause(wait);
      if (isUnsent() && (await isReached(recording.id, this.#server)) && isUnsent()) this.#send();
    }
  }

  #refuse(error) {
    this.#closeMicrophone();
    this.#settle();
    const { denied, missing, nothing, busy } = this.#words;
    const known = { NotAllowedError: denied, NotFoundError: missing, nothing }[error.name];
    this.#show("refused", error.sentence || known || busy);
  }

  // Waits for the person: to send it, or to discard it, which is all that can be done with a silent one.
  #stop(sentence, phase = "stopped") {
    this.#show(phase, sentence);
    this.#bar.showTime(this.#recording.samples);
  }

  async #discard() {
    const recording = this.#recording;
    const wasSent = this.#phase === "sending" || this.#phase === "stopped";
    this.#settle();
    this.#show("idle", "");
    this.#bar.open.focus();
    this.#sending?.abort();
    await this.#closeMicrophone();
    if (recording && wasSent) this.#drop(recording);
  }

  #drop({ id, ids = [id] }) {
    for (const each of ids) drop(each, this.#server);
  }

  // Offers what was recorded before this page was loaded; what was finished then is sent.
  async resume() {
    for (const found of await readKept(this.#person, this.#place)) {
      if (this.#phase !== "idle") return;
      await alone(found.id, async () => {
        const pieces = (await readPieces(found.id)) ?? [];
        const samples = pieces.reduce((sum, piece) => sum + piece.length, 0);
        if (this.#phase !== "idle") return;
        if (!samples) return forget(found.id);
        this.#recording = { ...found, pieces, samples };
        if (found.isWhole && this.#agree.isGiven) this.#send();
        else this.#stop(this.#words.found);
        await this.#untilOver(found.id);
      });
    }
  }

  get #server() {
    return {
      address: this.#words.recordings,
      token: this.#form.elements.namedItem("csrfmiddlewaretoken").value,
    };
  }

  async #closeMicrophone() {
    const microphone = this.#microphone;
    this.#microphone = null;
    await microphone?.close();
  }

  #settle() {
    const id = this.#recording?.id;
    this.#recording = null;
    this.#whenSettled.get(id)?.();
    this.#whenSettled.delete(id);
  }

  // No other tab works on a recording before it is deleted here: it would put the words into its field too.
  async #untilOver(id) {
    if (this.#recording?.id === id) await new Promise((resolve) => this.#whenSettled.set(id, resolve));
    await forget(id);
  }

  #show(phase, sentence) {
    this.#phase = phase === "refused" ? "idle" : phase;
    this.#bar.show(phase, sentence);
  }
}
