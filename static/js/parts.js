// Forms that htmx sends and whose answer replaces a part of the page, with what htmx can't do: send what was meant
// when the button was pressed, show a tick at once, never move a pressed button, and outlive the page.

import { afterPress } from "./press.js";

const CARD = "#safety-capture";

// Requests that aren't answered yet, in the order of their presses. htmx sends those of one part one by one.
const unanswered = new Set();

// Ticks that came back unticked, as that of a repeating step does for its next date, each with the time. A press that
// follows at once, as in a double click, was meant for the date before.
const ANEW_MS = 1000;
const anew = new Map();

export function setUpParts() {
  document.addEventListener("htmx:confirm", onSubmit);
  document.addEventListener("htmx:beforeSwap", onAnswer);
  document.addEventListener("htmx:afterRequest", onEnd);
  addEventListener("pagehide", sendUnanswered);
}

// htmx reads a form when it sends it, which may be long after the press: another button may have the focus by then.
function onSubmit(event) {
  const { elt: form, etc, path, target, triggeringEvent } = event.detail;
  if (!(form instanceof HTMLFormElement) || etc.values) return;
  const button = triggeringEvent.submitter;
  const tick = button?.getAttribute("role") === "checkbox" ? button : null;
  if (tick && performance.now() - anew.get(tick.id) < ANEW_MS) return event.preventDefault();
  const body = new FormData(form, button);
  etc.values = Object.fromEntries(body);
  if (tick) turnOver(tick);
  unanswered.add({ form, etc, path, body, tick, part: target.id });
}

function onAnswer({ detail }) {
  // A page of its own, such as the sign-in, isn't a part.
  if (isRedirected(detail.xhr, detail.requestConfig.path) || isBusyPage(detail.xhr)) detail.shouldSwap = false;
  const request = requestOf(detail);
  if (!request || !detail.shouldSwap) return;
  detail.shouldSwap = false;
  const { target, serverResponse } = detail;
  const swapStyle = detail.swapOverride ?? request.form.closest("[hx-swap]").getAttribute("hx-swap");
  afterPress(() => {
    // A part that other requests are about to change is out of date; a safety card that comes along isn't.
    const isOutOfDate = [...unanswered].some((other) => other !== request && other.part === target.id);
    swap(target, serverResponse, isOutOfDate ? "none" : swapStyle);
    const tick = document.getElementById(request.tick?.id);
    const isAnew = !isOutOfDate && request.body.get("done") === "1" && tick?.value === "1";
    if (isAnew) anew.set(tick.id, performance.now());
  });
}

function onEnd({ detail }) {
  const request = requestOf(detail);
  if (!request) return;
  unanswered.delete(request);
  const { form, tick, body } = request;
  const { status } = detail.xhr;
  if (tick && !(status && status < 429)) turnOver(tick);
  if (!status) {
    keepDraft(form);
    showNotice(form, document.getElementById("toast").dataset.lost);
  } else if (status < 300 && !isRedirected(detail.xhr, request.path)) {
    done(form, body);
  } else if (status >= 500 || isBusyPage(detail.xhr)) {
    keepDraft(form);
    showNotice(form, document.getElementById("toast").dataset.failed);
  } else if (status !== 422 && status !== 429) {
    // Signed out, or a page that is out of date: a fresh one shows how things are. Drafts are kept.
    keepDraft(form);
    location.reload();
  }
}

// Leaving a page aborts its requests. Requests sent now may arrive in any order, so of each box only its last tick
// is sent. All of them may arrive twice: a capture has an id, and a tick the date that it is for.
function sendUnanswered() {
  const requests = [...unanswered];
  unanswered.clear();
  const isLast = ({ tick }, place) => !tick || requests.findLastIndex((request) => request.tick === tick) === place;
  for (const { path, body } of requests.filter(isLast)) {
    fetch(path, { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true }).catch(() => {});
  }
}

function requestOf({ etc }) {
  return [...unanswered].find((request) => request.etc === etc);
}

export function isRedirected(xhr, path) {
  return xhr.responseURL !== new URL(path, location).href;
}

// Too many requests at once are answered with a page; a limit of the form itself says where its sentence goes.
export function isBusyPage(xhr) {
  return xhr.status === 429 && !xhr.getResponseHeader("HX-Retarget");
}

function swap(target, html, swapStyle) {
  const present = document.getElementById(target.id) ?? target;
  const hadFocus = present.contains(document.activeElement);
  const earlier = document.querySelector(CARD);
  htmx.swap(present, html, { swapStyle });
  const card = document.querySelector(CARD);
  if (card && card !== earlier) card.scrollIntoView({ block: "nearest" });
  if (hadFocus && document.activeElement === document.body) {
    const part = document.getElementById(target.id);
    // With a tabindex of its own, nothing inside of `details` could be reached by Tab.
    (part?.querySelector(":scope > summary") ?? part)?.focus({ preventScroll: true });
  }
}

function keepDraft(form) {
  form.querySelectorAll("textarea").forEach((field) => field.dispatchEvent(new Event("input", { bubbles: true })));
}

function done(form, body) {
  showNotice(form, "");
  if (!form.dataset.said) return;
  // Text that was written since the form was sent stays.
  form.querySelectorAll("textarea").forEach((field) => {
    if (field.value === body.get(field.name)) field.value = "";
  });
  keepDraft(form);
  renew(form);
  toast(form.dataset.said);
  form.dispatchEvent(new CustomEvent("kept", { bubbles: true }));
}

function showNotice(form, words) {
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

// A tick shows at once; the answer confirms it, and a tick that didn't arrive is taken back.
export function turnOver(tick) {
  const isDone = tick.value === "1";
  tick.setAttribute("aria-checked", String(isDone));
  tick.value = isDone ? "0" : "1";
}

// The server keeps a text with the same id once, so the next text needs its own.
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

// crypto.randomUUID exists on secure pages only; in a home network Sage runs without TLS.
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
