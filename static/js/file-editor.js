// The editor of a file: a preview after a pause, a count, and a text that outlives a lost page.
// Without this script the page is a form with a Preview button. On a file's own page it only forgets what was saved.

const PAUSE_MS = 600;
const SAVED_MARK = "#saved";

const form = document.getElementById("file-editor");
const file = document.getElementById("file");

// The next person at this browser may have a file of the same name.
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
    // Without storage, or without room in it, a text lives as long as its page.
  }
}

class Preview {
  constructor(form, pane, state) {
    this.form = form;
    this.pane = pane;
    this.state = state;
    this.timer = 0;
    this.request = null;
  }

  ask() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), PAUSE_MS);
  }

  async load() {
    this.request?.abort();
    this.request = new AbortController();
    const sent = new FormData();
    for (const name of ["csrfmiddlewaretoken", "body"]) sent.set(name, this.form.elements.namedItem(name).value);
    try {
      const answer = await fetch(this.form.dataset.preview, {
        method: "POST",
        body: sent,
        signal: this.request.signal,
        redirect: "error",
      });
      if (answer.status === 429) {
        this.state.textContent = `${await answer.text()} What you write is safe on this page.`;
        return;
      }
      if (!answer.ok) throw new Error(`${answer.status}`);
      // Rendered and sanitised by the server, like the file's own page.
      this.pane.innerHTML = await answer.text();
      this.state.textContent = "";
    } catch (error) {
      if (error.name === "AbortError") return;
      this.state.textContent = "The preview isn’t available right now. Your text is safe on this page.";
    }
  }
}

function equipEditor() {
  const field = form.elements.namedItem("body");
  const count = document.getElementById("file-count");
  const refusal = document.getElementById("refusal");
  const offer = document.getElementById("draft");
  const { path } = form.dataset;
  const most = Number(form.dataset.most);
  const preview = new Preview(form, document.getElementById("preview"), document.getElementById("preview-state"));
  const opened = field.value;
  let isLeaving = false;

  // Characters as the server counts them: an emoji is one.
  const length = () => Array.from(field.value).length;

  function showCount() {
    const characters = length();
    count.textContent = `${characters.toLocaleString("en")} of ${most.toLocaleString("en")} characters`;
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
    preview.ask();
  });

  form.addEventListener("submit", (event) => {
    const over = length() - most;
    if (over > 0) {
      event.preventDefault();
      refuse(`The text is ${over.toLocaleString("en")} characters too long. Shorten it and save again; nothing you typed is lost.`);
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
  if (field.value.trim()) preview.load();
}

if (form) equipEditor();
if (file && location.hash === SAVED_MARK) {
  keepDraft(file.dataset.path, null);
  history.replaceState(null, "", location.pathname + location.search);
}
