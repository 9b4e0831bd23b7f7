// The editor of a file: a character count, errors of the preview that htmx loads, and a draft that outlives its page.
// Without scripts the page is a form with a Preview button. A file's own page only discards a draft that was saved.

import { isBusyPage, isRedirected } from "./parts.js";
import { filled } from "./words.js";

const SAVED_MARK = "#saved";

const form = document.getElementById("file-editor");
const file = document.getElementById("file");

// Another person may use this browser and have a file of the same name.
function draftKey(path) {
  return `sage-file:${document.body.dataset.user}:${path}`;
}

function readDraft(path) {
  try {
    return sessionStorage.getItem(draftKey(path));
  } catch {
    return null;
  }
}

function keepDraft(path, text) {
  try {
    if (text === null) sessionStorage.removeItem(draftKey(path));
    else sessionStorage.setItem(draftKey(path), text);
  } catch {
    // Storage is off or full: the draft lives as long as its page.
  }
}

function setUpPreview(pane, state) {
  const fail = () => (state.textContent = state.dataset.failed);
  pane.addEventListener("htmx:sendError", fail);
  // After too many previews the server sends a message of its own.
  pane.addEventListener("htmx:afterOnLoad", ({ detail: { xhr } }) => {
    if (xhr.status === 200 && !isRedirected(xhr, pane.getAttribute("hx-post"))) state.textContent = "";
    else if (xhr.status !== 429 || isBusyPage(xhr)) fail();
  });
}

function setUpEditor() {
  const field = form.elements.namedItem("body");
  const count = document.getElementById("file-count");
  const refusal = document.getElementById("refusal");
  const offer = document.getElementById("draft");
  const { path } = form.dataset;
  const most = Number(form.dataset.most);
  const opened = field.value;
  let isLeaving = false;

  // Characters as the server counts them: an emoji is one.
  const length = () => Array.from(field.value).length;

  function showCount() {
    const characters = length();
    count.textContent = filled(count.dataset.words, { characters, most });
    count.classList.toggle("is-too-long", characters > most);
  }

  function refuse(text) {
    const notice = document.createElement("div");
    notice.className = "notice";
    notice.append(Object.assign(document.createElement("p"), { textContent: text }));
    refusal.replaceChildren(notice);
    notice.scrollIntoView({ block: "center" });
  }

  field.addEventListener("input", () => {
    keepDraft(path, field.value === opened ? null : field.value);
    showCount();
  });

  form.addEventListener("submit", (event) => {
    const over = length() - most;
    if (over > 0) {
      event.preventDefault();
      refuse(filled(count.dataset.over, { over }));
      field.focus();
      return;
    }
    isLeaving = true;
  });

  addEventListener("pageshow", () => {
    isLeaving = false;
  });
  addEventListener("beforeunload", (event) => {
    if (!isLeaving && field.value !== field.defaultValue) event.preventDefault();
  });

  const kept = readDraft(path);
  if (kept !== null && kept !== field.value && !refusal.childElementCount) {
    offer.hidden = false;
    document.getElementById("draft-take").addEventListener("click", () => {
      field.value = kept;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      offer.hidden = true;
      field.focus();
    });
    document.getElementById("draft-drop").addEventListener("click", () => {
      keepDraft(path, null);
      offer.hidden = true;
      field.focus();
    });
  } else if (kept === field.value) {
    keepDraft(path, null);
  }
  showCount();
}

if (form) {
  setUpEditor();
  setUpPreview(document.getElementById("preview"), document.getElementById("preview-state"));
}
if (file && location.hash === SAVED_MARK) {
  keepDraft(file.dataset.path, null);
  history.replaceState(null, "", location.pathname + location.search);
}
