// Feedback on an answer: a press of a thumb is stored at once, and the form for a note opens below the answer. Without
// this script both are pages.

import { toast } from "../parts.js";

// What is open, by the ids of its answers: the page may replace all of them by fresh ones.
const panels = new Map();
// The newest request by the ids of their answers.
const newest = new Map();

export function setUpFeedback(page) {
  page.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (form.id !== "answer-feedback" && !form.matches(".feedback-form")) return;
    event.preventDefault();
    send(form, submitter);
  });
  page.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-close-feedback]");
    if (button) close(button.closest(".turn"));
  });
  new MutationObserver(() => {
    for (const [id, panel] of panels) if (!panel.isConnected) place(document.getElementById(id), panel);
  }).observe(document.getElementById("messages"), { childList: true });
}

async function send(form, submitter) {
  const { id } = submitter.closest(".turn");
  const request = {};
  newest.set(id, request);
  const rating = submitter.name === "rating" ? submitter.value : form.elements.namedItem("rating").value;
  const { lost, failed } = document.getElementById("toast").dataset;
  let response, words;
  try {
    response = await fetch(submitter.hasAttribute("formaction") ? submitter.formAction : form.action, {
      method: "POST",
      body: new FormData(form, submitter),
      headers: { "HX-Request": "true" },
    });
    words = await response.text();
  } catch {
    toast(lost);
    return;
  }
  if (response.redirected) return location.reload(); // Signed out
  const isDone = response.status === 204;
  if (isDone) toast(JSON.parse(response.headers.get("HX-Trigger")).said);
  else if (!response.ok && response.status !== 422) return toast(failed);
  const turn = document.getElementById(id);
  if (!turn || newest.get(id) !== request) return; // It was taken back, or something was pressed later.
  if (isDone) close(turn);
  if (response.ok) press(turn, submitter.value === "delete" ? "" : rating);
  if (!isDone) open(turn, words);
}

function press(turn, rating) {
  for (const button of turn.querySelectorAll(".feedback button")) {
    button.setAttribute("aria-pressed", String(button.value === rating));
  }
}

function open(turn, words) {
  const before = panels.get(turn.id);
  before?.remove();
  const holder = document.createElement("template");
  holder.innerHTML = words;
  const panel = holder.content.firstElementChild;
  if (before) keepWritten(before.querySelector("form"), panel.querySelector("form"));
  panels.set(turn.id, panel);
  place(turn, panel);
  panel.querySelector("[data-close-feedback]").hidden = false;
  panel.scrollIntoView({ block: "nearest" });
  panel.querySelector("textarea").focus({ preventScroll: true });
}

// The other thumb was pressed while a note was being written.
function keepWritten(before, form) {
  form.elements.namedItem("note").value = before.elements.namedItem("note").value;
  for (const name of ["share", "share_answer"]) {
    form.elements.namedItem(name).checked = before.elements.namedItem(name).checked;
  }
}

function place(turn, panel) {
  turn?.querySelector(".turn-foot")?.after(panel);
}

// The thumb that opened it has the focus again.
function close(turn) {
  panels.get(turn.id)?.remove();
  panels.delete(turn.id);
  (turn.querySelector(".feedback [aria-pressed=true]") ?? turn.querySelector(".feedback button")).focus();
}
