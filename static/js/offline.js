// The offline page: keeps what is written on it until it can be sent.

import { keepDraft, readDraft, readPerson } from "./offline-draft.js";

const person = readPerson();
const form = document.getElementById("offline-form");
const field = document.getElementById("offline-text");
const state = document.getElementById("offline-state");
const title = document.getElementById("title");

function showConnection(isOnline) {
  title.textContent = isOnline ? title.dataset.online : title.dataset.offline;
}

if (person) {
  field.value = readDraft(person);
  form.hidden = false;
  field.addEventListener("input", () => {
    state.textContent = keepDraft(person, field.value) ? state.dataset.kept : state.dataset.lost;
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

document.getElementById("retry").addEventListener("click", (event) => {
  event.preventDefault();
  location.reload();
});
addEventListener("online", () => showConnection(true));
addEventListener("offline", () => showConnection(false));
