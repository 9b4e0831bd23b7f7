// Texts that are longer than the server takes: nothing is cut off, a sentence says how much is too much, and the form
// isn't sent.

import { filled } from "./words.js";

export function setUpTooLong() {
  for (const field of document.querySelectorAll("textarea[data-most]")) show(field);
  document.addEventListener("input", ({ target }) => {
    if (target.matches("textarea[data-most]")) show(target);
  });
  // Before anything that sends the form or forgets its draft.
  addEventListener("submit", stop, { capture: true });
}

function stop(event) {
  const field = [...event.target.querySelectorAll("textarea[data-most]")].find(excess);
  // A question is skipped without its text.
  if (!field || event.submitter?.value === "put_away") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  field.focus();
  show(field);
  // The same words in a new node are announced again.
  const line = lineOf(field);
  line.replaceChildren(line.textContent);
}

function show(field) {
  const over = excess(field);
  field.classList.toggle("has-too-much", over > 0);
  let line = lineOf(field);
  if (!over) {
    line?.remove();
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
    return;
  }
  if (!line) {
    line = document.createElement("p");
    line.className = "too-long";
    line.id = `${field.id}-too-long`;
    line.role = "status";
    field.after(line);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", line.id);
  }
  const words = filled(field.dataset.tooLong, { over, most: Number(field.dataset.most) });
  if (line.textContent !== words) line.textContent = words;
}

function lineOf(field) {
  return field.form.querySelector(".too-long");
}

function excess(field) {
  const most = Number(field.dataset.most);
  if (field.value.length <= most) return 0;
  return Math.max(0, charactersOf(field.value) - most);
}

// How many characters a text has, as the server counts them: a surrogate pair is one.
export function charactersOf(text) {
  let pairs = 0;
  for (let at = 1; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs += 1;
  }
  return text.length - pairs;
}
