// The open question: sends its answer once, shows the state of that, and keeps what was filled in when the server
// sends the turn again.

import { filled } from "../words.js";
import { copyAsSent } from "./mend.js";
import { openTurnIn } from "./turns.js";

const SLOW_MS = 1500;
const LOST_MS = 8000;

export class Questions {
  #messages;
  #place;
  #form;
  #send;
  #say;
  #frame = null;
  #isUnsure = false;
  #timers = [];
  #focused = null;
  #wasAnswered = false; // by this tab, in the open turn

  constructor({ messages, place, form, send, say }) {
    this.#messages = messages;
    this.#place = place;
    this.#form = form;
    this.#send = send;
    this.#say = say;
    messages.addEventListener("keydown", moveAmongPills);
  }

  get #turn() {
    return openTurnIn(this.#messages);
  }

  get pending() {
    return this.#turn?.querySelector(".call.is-pending") ?? null;
  }

  get isWaiting() {
    return this.#frame !== null;
  }

  // A second tap while the first is being sent does nothing.
  answer(submitter) {
    const question = this.pending;
    if (!question || this.#frame) return;
    this.#frame = frameOf(question, this.#form, submitter);
    for (const input of question.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    for (const place of question.querySelectorAll("[data-fault]")) place.textContent = "";
    question.classList.add("is-sending");
    question.setAttribute("aria-busy", "true");
    if (submitter?.classList.contains("pill")) submitter.classList.add("is-picked");
    this.#go();
  }

  // The connection was lost and is back. The next snapshot shows whether the answer arrived.
  reopen() {
    this.#isUnsure = this.isWaiting;
  }

  settle() {
    if (!this.#frame) return;
    if (this.pending?.dataset.toolUseId !== this.#frame.toolUseId) this.#end();
    else if (this.#isUnsure) this.#go();
    this.#isUnsure = false;
  }

  // Return whether it was answered in this tab.
  ended(toolUseId) {
    const isOwn = this.#frame?.toolUseId === toolUseId;
    if (isOwn) this.#end();
    this.#wasAnswered ||= isOwn;
    return isOwn;
  }

  // Whether the turn has ended after an answer of this tab, with the focus still there or nowhere: a click beside all
  // controls gives it to the page. Text that somebody selects stays selected.
  leavesFocus() {
    if (this.pending) return false;
    const wasAnswered = this.#wasAnswered;
    this.#wasAnswered = false;
    const active = document.activeElement;
    return wasAnswered && getSelection().isCollapsed && active.matches("body, main, .call:not(.is-pending)");
  }

  // What is wrong with one field is said there. Return whether there is such a field.
  refuse(field = "", words = "") {
    this.#end();
    this.#showState("");
    const place = field && this.pending?.querySelector(`[data-fault="${CSS.escape(field)}"]`);
    if (!place) return false;
    place.textContent = words;
    const named = this.pending.querySelector(`[aria-describedby~="${CSS.escape(place.id)}"]`);
    const input = named.matches("input, select, textarea") ? named : (named.querySelector("input:checked") ?? named.querySelector("input"));
    if (input === named) input.setAttribute("aria-invalid", "true"); // A group of ratings can't have it.
    input.focus({ preventScroll: true });
    place.scrollIntoView({ block: "center", behavior: "instant" });
    return true;
  }

  announce() {
    const question = this.pending;
    if (!question) return;
    const count = question.querySelectorAll(".pill").length;
    const { choices, ways: others } = this.#form.dataset;
    const ways = count ? filled(choices, { count }) : others;
    this.#say(`${question.querySelector("legend").textContent.trim()} ${ways}`);
  }

  // A snapshot equal to what the page shows isn't swapped in: even moving a form loses a click in progress.
  isShownBy(fragment, target) {
    const sent = fragment.querySelector(":scope > .turn");
    return target === this.#place && sent !== null && this.pending !== null && outline(sent) === outline(this.#turn);
  }

  // What is swapped in may be on the page already. An open form stays, because somebody may be filling it in;
  // anything else is removed, so that nothing is there twice.
  place(fragment, target) {
    for (const fresh of fragment.querySelectorAll(".call[id]")) {
      const present = document.getElementById(fresh.id);
      if (!present || present === target) continue;
      if (present.matches(".is-pending") && fresh.matches(".is-pending")) fresh.replaceWith(present);
      else present.remove();
    }
    for (const mark of fragment.querySelectorAll(".mark")) {
      this.#turn?.querySelector(`.mark[data-mark="${CSS.escape(mark.dataset.mark)}"]`)?.remove();
    }
  }

  // Keep the focus where it was, even when the element is replaced.
  noteFocus() {
    const active = document.activeElement;
    this.#focused = active?.closest(".turn.is-open") ? active : null;
  }

  restoreFocus(fallback) {
    const was = this.#focused;
    this.#focused = null;
    if (!was || document.activeElement === was) return;
    if (was.isConnected && was.checkVisibility?.() !== false) {
      was.focus({ preventScroll: true });
      return;
    }
    const id = was.closest(".call")?.id;
    const next = this.pending?.querySelector("button, input:not([type=hidden])");
    const ended = id && document.getElementById(id);
    (next ?? ended ?? fallback).focus({ preventScroll: true });
  }

  #go() {
    this.#stopTimers();
    if (!this.#send(this.#frame)) {
      this.#showState(this.#form.dataset.waiting);
      return;
    }
    this.#showState("");
    this.#timers = [
      setTimeout(() => this.#showState(this.#form.dataset.sending), SLOW_MS),
      setTimeout(() => {
        this.#end();
        this.#showState(this.#form.dataset.lost);
      }, LOST_MS),
    ];
  }

  #end() {
    this.#stopTimers();
    this.#frame = null;
    const question = this.pending;
    question?.classList.remove("is-sending");
    question?.removeAttribute("aria-busy");
    question?.querySelector(".is-picked")?.classList.remove("is-picked");
  }

  #stopTimers() {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  #showState(words) {
    const state = this.pending?.querySelector(".call-state");
    if (state) state.textContent = words;
  }
}

// A turn's markup as the server sends it, without the state of its open question.
function outline(element) {
  const copy = copyAsSent(element);
  for (const live of copy.querySelectorAll("#live-text")) live.replaceWith(live.textContent); // unfinished.js makes its own
  for (const notes of copy.querySelectorAll("#live-notes:empty")) notes.remove(); // turns.js moves them
  for (const call of copy.querySelectorAll(".call.is-pending")) call.replaceWith(call.id);
  for (const one of copy.querySelectorAll("details")) one.removeAttribute("open");
  return copy.outerHTML.replace(/\s+/g, " ").replaceAll("> <", "><").replaceAll(' class=""', "").trim();
}

// Arrow keys move among the answers to tap, as they do among ratings.
function moveAmongPills(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches("button.pill")) return;
  event.preventDefault();
  const pills = [...event.target.closest(".pills").querySelectorAll(".pill")];
  pills.at((pills.indexOf(event.target) + step) % pills.length).focus();
}

function frameOf(question, form, submitter) {
  const { toolUseId, kind } = question.dataset;
  if (submitter?.name === "do") return { type: "dismiss", toolUseId };
  if (kind === "confirm") return { type: "answer", toolUseId, value: decisionIn(form, submitter) };
  if (kind !== "pulse") return { type: "answer", toolUseId, value: submitter?.value ?? "" };
  const ratings = {};
  let note = "";
  for (const [name, value] of new FormData(form)) {
    if (name === "note") note = value;
    else if (name.startsWith("rating_") && value) ratings[name.slice("rating_".length)] = Number(value);
  }
  return { type: "answer", toolUseId, value: { ratings, ...(note.trim() && { note }) } };
}

// The user's yes with the fields as they stand, or their no.
function decisionIn(form, submitter) {
  if (submitter?.value === "no") return { accept: false };
  const edited = [...new FormData(form)].filter(([name]) => name.startsWith("input_"));
  return { accept: true, input: Object.fromEntries(edited.map(([name, value]) => [name.slice("input_".length), value])) };
}
