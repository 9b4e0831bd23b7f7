// Feedback on an answer: a press of a thumb is stored at once, and the form for a note opens below the answer. Without
// this script both are pages.

import { toast } from "../parts.js";

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
}

async function send(form, submitter) {
  const turn = submitter.closest(".turn");
  const { lost, failed } = document.getElementById("toast").dataset;
  const rating = submitter.name === "rating" ? submitter.value : form.elements.namedItem("rating").value;
  let response;
  try {
    response = await fetch(submitter.hasAttribute("formaction") ? submitter.formAction : form.action, {
      method: "POST",
      body: new FormData(form, submitter),
      headers: { "HX-Request": "true" },
    });
  } catch {
    toast(lost);
    return;
  }
  if (response.redirected) location.reload(); // Signed out
  else if (response.status === 204) {
    close(turn);
    press(turn, submitter.value === "delete" ? "" : rating);
    toast(JSON.parse(response.headers.get("HX-Trigger")).said);
  } else if (response.ok || response.status === 422) {
    if (response.ok) press(turn, rating);
    open(turn, await response.text());
  } else toast(failed);
}

function press(turn, rating) {
  for (const button of turn.querySelectorAll(".feedback button")) {
    button.setAttribute("aria-pressed", String(button.value === rating));
  }
}

function open(turn, words) {
  turn.querySelector(".feedback-panel")?.remove();
  turn.querySelector(".turn-foot").insertAdjacentHTML("afterend", words);
  const form = turn.querySelector(".feedback-form");
  form.querySelector("[data-close-feedback]").hidden = false;
  form.scrollIntoView({ block: "nearest" });
  form.querySelector("textarea").focus({ preventScroll: true });
}

// The thumb that opened it has the focus again.
function close(turn) {
  turn.querySelector(".feedback-panel")?.remove();
  (turn.querySelector(".feedback [aria-pressed=true]") ?? turn.querySelector(".feedback button")).focus();
}
