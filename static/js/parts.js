// Small forms that change one part of the page: sent in the background, their answer takes the part's place.
// `data-part` names the part by its id. What goes wrong is said beside the form, and what was written stays.

import { afterPress } from "./press.js";

const LOST = "That didn’t get through. Check your connection and try again.";
const FAILED = "Sage couldn’t do that right now. Try again in a moment.";
const KEPT_ALIVE = 16_000; // characters: a browser lets little outlive its page

// The forms of each part that are on their way. They go one after another, the first of them now.
const underway = new Map();

export function equipParts() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.part || event.defaultPrevented) return;
    event.preventDefault();
    const body = new FormData(form, event.submitter);
    const tick = event.submitter?.getAttribute("role") === "checkbox" ? event.submitter : null;
    if (tick) turnOver(tick);
    send({ form, body, tick });
  });
  addEventListener("pagehide", sendWhatWaits);
}

function send(sent) {
  const { part } = sent.form.dataset;
  const queue = underway.get(part) ?? [];
  underway.set(part, queue);
  if (queue.push(sent) === 1) empty(queue);
}

async function empty(queue) {
  while (queue.length) {
    const answer = await post(queue[0]);
    await new Promise(afterPress);
    // An answer that others follow is old already: the last one tells what holds.
    settle(queue.shift(), answer, queue.length === 0);
  }
}

// Nobody waits for an answer any more. Of a box that was ticked and cleared again the last word counts: what goes
// out together may arrive in any order.
function sendWhatWaits() {
  for (const queue of underway.values()) {
    const waiting = queue.splice(1);
    const isLastWord = ({ tick }, place) => !tick || waiting.findLastIndex((sent) => sent.tick === tick) === place;
    waiting.filter(isLastWord).forEach(post);
  }
}

async function post({ form, body }) {
  const length = [...body.values()].join("").length;
  try {
    const response = await fetch(form.action, {
      method: "POST",
      body,
      headers: { "Sage-Part": "1" },
      // What was ticked is kept, even if its page is left in the same moment.
      keepalive: length < KEPT_ALIVE,
    });
    return { response, text: await response.text() };
  } catch {
    return null;
  }
}

function settle({ form, body, tick }, answer, isLast) {
  if (tick && !(answer?.response.status < 429)) turnOver(tick);
  if (!answer) {
    keepDraft(form);
    return tell(form, LOST);
  }
  const page = new DOMParser().parseFromString(answer.text, "text/html");
  const part = page.getElementById(form.dataset.part);
  if (answer.response.ok && !answer.response.redirected) {
    if (part && isLast) put(part);
    return done(form, body);
  }
  if (answer.response.status === 422 || answer.response.status === 429) {
    if (part) return put(part);
    return tell(form, page.body.textContent.trim());
  }
  if (answer.response.status >= 500 || answer.response.status === 429) return tell(form, FAILED);
  // Signed out meanwhile, or a page that is too old: a fresh one shows what holds. Drafts are kept.
  keepDraft(form);
  location.reload();
}

function keepDraft(form) {
  form.querySelectorAll("textarea").forEach((field) => field.dispatchEvent(new Event("input", { bubbles: true })));
}

function put(part) {
  const old = document.getElementById(part.id);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  old.replaceWith(part);
  if (!focused) return;
  const same = focused.id && document.getElementById(focused.id);
  (same || part).focus({ preventScroll: true });
}

function done(form, body) {
  tell(form, "");
  if (!form.dataset.said) return;
  // What was written since then stays: only what was sent is kept by now.
  form.querySelectorAll("textarea").forEach((field) => {
    if (field.value === body.get(field.name)) field.value = "";
  });
  keepDraft(form);
  renew(form);
  toast(form.dataset.said);
  form.dispatchEvent(new CustomEvent("kept", { bubbles: true }));
}

function tell(form, words) {
  const place = form.querySelector(".form-notice");
  if (!place) return words && toast(words);
  place.replaceChildren();
  if (!words) return;
  const notice = document.createElement("div");
  notice.className = "notice";
  const line = document.createElement("p");
  line.textContent = words;
  notice.append(line);
  place.append(notice);
}

// A tick is shown at once; the answer puts it right, and what did not arrive is taken back.
function turnOver(tick) {
  const isDone = tick.value === "1";
  tick.setAttribute("aria-checked", String(isDone));
  tick.value = isDone ? "0" : "1";
}

// The same words sent twice under one id are kept once; the next ones need their own.
export function renew(form) {
  const field = form.elements.namedItem("id");
  if (field) field.value = newId();
}

let fading = 0;

export function toast(words) {
  const place = document.getElementById("toast");
  clearTimeout(fading);
  place.textContent = words;
  fading = setTimeout(() => (place.textContent = ""), 5000);
}

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
