// The offline page: keeps what is written on it until it can be sent, and shows what this device has a copy of.

import { eraseCopies, readCopy } from "./device-copy.js";
import { keepDraft, readDraft, readPerson } from "./offline-draft.js";

const person = readPerson();
const form = document.getElementById("offline-form");
const field = document.getElementById("offline-text");
const state = document.getElementById("offline-state");
const title = document.getElementById("title");
const place = document.getElementById("copy");

function showConnection(isOnline) {
  title.textContent = isOnline ? title.dataset.online : title.dataset.offline;
}

// The server sanitised it, nothing runs while it is parsed, and the page's policy forbids scripts of its own.
async function showCopy() {
  const { html, fault } = await readCopy(person);
  if (fault) {
    const line = document.getElementById("copy-state");
    line.textContent = line.dataset[fault];
  }
  if (html) {
    const { body } = new DOMParser().parseFromString(html, "text/html");
    for (const link of body.querySelectorAll("a")) link.replaceWith(...link.childNodes); // nothing answers there
    place.replaceChildren(...body.childNodes);
    place.hidden = false;
  }
  place.dataset.state = html ? "shown" : "none";
}

function hideCopy() {
  place.replaceChildren();
  place.hidden = true;
  place.dataset.state = "none";
}

// Another tab may have signed out or erased the copy, and it may have become too old, while this page was open.
async function checkCopy() {
  if (place.hidden) return;
  if (!(await readCopy(person)).html) hideCopy();
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
  hideCopy();
}

document.getElementById("retry").addEventListener("click", (event) => {
  event.preventDefault();
  location.reload();
});
// Browsers keep a page that was left, with what it shows, and this one isn't `no-store`.
addEventListener("pagehide", hideCopy);
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
addEventListener("storage", checkCopy);
addEventListener("focus", checkCopy);
document.addEventListener("visibilitychange", checkCopy);
addEventListener("online", () => showConnection(true));
addEventListener("offline", () => showConnection(false));
