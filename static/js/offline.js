// The offline page: keeps what is written on it until it can be sent, and shows what this device has a copy of.

import { eraseCopies, readCopy } from "./device-copy.js";
import { keepDraft, readDraft, readPerson } from "./offline-draft.js";

const person = readPerson();
const form = document.getElementById("offline-form");
const field = document.getElementById("offline-text");
const state = document.getElementById("offline-state");
const title = document.getElementById("title");

function showConnection(isOnline) {
  title.textContent = isOnline ? title.dataset.online : title.dataset.offline;
}

// The server wrote and sanitised it, and nobody without the key can have changed it.
async function showCopy() {
  const { html, fault } = await readCopy(person);
  if (fault) {
    const line = document.getElementById("copy-state");
    line.textContent = line.dataset[fault];
  }
  if (!html) return;
  const place = document.getElementById("copy");
  place.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  place.hidden = false;
}

if (person) {
  showCopy();
  field.value = readDraft(person);
  form.hidden = false;
  field.addEventListener("input", () => {
    state.textContent = keepDraft(person, field.value) ? state.dataset.kept : state.dataset.lost;
  });
  form.addEventListener("submit", (event) => event.preventDefault());
} else {
  eraseCopies();
}

document.getElementById("retry").addEventListener("click", (event) => {
  event.preventDefault();
  location.reload();
});
addEventListener("online", () => showConnection(true));
addEventListener("offline", () => showConnection(false));
