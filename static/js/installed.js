// Sage as an app: the service worker, the menu item that installs it, and what belongs to one person on a device.

import { dropDeviceOfOthers, leaveDevice } from "./device.js";
import { canKeepCopy, eraseCopies, noteKept, renewCopy } from "./device-copy.js";
import { keepDraft, notePerson, readDraft } from "./offline-draft.js";
import { setText } from "./composer.js";

const { user: person, signedOut, deviceCopy } = document.body.dataset;

// In this tab: whose it is, and what was typed and isn't sent or saved yet. When a session expires it stays for the
// same person.
const TAB_OF = "sage-tab-of";
const TYPED = /^sage-(?:draft|file|outbox|queue|submitted):/;

// What was dictated and isn't words yet (voice/kept.js).
const RECORDINGS = "sage-recordings";

export function setUpApp() {
  // An error page knows nobody.
  if (person || signedOut !== undefined) {
    notePerson(person);
    dropDeviceOfOthers(person);
    setUpCopy();
  }
  offerInstalling();
  if (!person) return;
  noteTab();
  for (const form of document.querySelectorAll('form[action="/accounts/logout/"]')) {
    form.addEventListener("submit", leaveDevice);
    form.addEventListener("submit", forgetTyped);
    form.addEventListener("submit", forgetRecordings);
  }
  offerDraft(document.getElementById("offline-draft"));
  // After the page itself.
  addEventListener("load", () => setTimeout(register));
}

// What can be read offline is renewed once the page has nothing else to do, and when its person leaves it.
function setUpCopy() {
  const form = document.getElementById("device-copy-form");
  if (form && !canKeepCopy()) {
    form.hidden = true;
    document.getElementById("device-copy-unable").hidden = false;
  }
  if (!person || deviceCopy === undefined) {
    eraseCopies();
    return;
  }
  noteKept(person);
  const wait = globalThis.requestIdleCallback ?? setTimeout;
  addEventListener("load", () => wait(async () => {
    const ended = await renewCopy(person, { asked: Boolean(form) });
    const line = form?.querySelector("[role=status]");
    if (line) line.textContent = form.dataset[ended];
  }));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) renewCopy(person, { isLeaving: true });
  });
}

// Absent on pages without TLS, except those of this machine.
async function register() {
  await navigator.serviceWorker?.register("/service-worker.js", { updateViaCache: "none" }).catch(() => {});
}

function noteTab() {
  try {
    const owner = sessionStorage.getItem(TAB_OF);
    if (owner && owner !== person) forgetTyped();
    sessionStorage.setItem(TAB_OF, person);
  } catch {
    // Storage is off: nothing is stored.
  }
}

function forgetTyped() {
  try {
    for (const key of Object.keys(sessionStorage)) if (TYPED.test(key)) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}

// Not when a session ends by itself: they stay, for the same person.
function forgetRecordings() {
  try {
    indexedDB.deleteDatabase(RECORDINGS);
  } catch {
    // As above.
  }
}

function offerInstalling() {
  const button = document.getElementById("install");
  let offer = null;
  addEventListener("beforeinstallprompt", (event) => {
    if (!button) return;
    event.preventDefault();
    offer = event;
    button.hidden = false;
  });
  addEventListener("appinstalled", () => button && (button.hidden = true));
  button?.addEventListener("click", async () => {
    button.hidden = true;
    await offer?.prompt();
  });
}

// Above the composer, what was written while offline.
function offerDraft(template) {
  const form = document.getElementById("composer");
  const text = readDraft(person);
  if (!template || !form || !text) return;
  const offer = template.content.firstElementChild.cloneNode(true);
  offer.querySelector(".offline-draft-text").textContent = text;
  const field = form.elements.namedItem("text");
  const done = () => {
    keepDraft(person, "");
    offer.remove();
    field.focus();
  };
  offer.querySelector("[data-use]").addEventListener("click", () => {
    setText(field, [field.value.trim(), text].filter(Boolean).join("\n\n"));
    done();
  });
  offer.querySelector("[data-discard]").addEventListener("click", done);
  form.before(offer);
}
