// Small forms that change one part of the page: sent in the background, their answer takes the part's place.
// `data-part` names the part by its id. What goes wrong is said beside the form, and what was written stays.

const LOST = "That didn't arrive. Look at the connection and try again.";
const FAILED = "Sage couldn't do that just now. Try again in a moment.";

// How many forms of a part are on their way, and the last of them: they go one after another.
const underway = new Map();

export function equipParts() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.part || event.defaultPrevented) return;
    event.preventDefault();
    const body = new FormData(form, event.submitter);
    showTick(event.submitter);
    send(form, body);
  });
}

async function send(form, body) {
  const name = form.dataset.part;
  const before = underway.get(name) ?? { count: 0, last: Promise.resolve() };
  const turn = { count: before.count + 1, last: null };
  turn.last = before.last.then(() => post(form, body)).then((answer) => {
    const now = underway.get(name);
    now.count -= 1;
    // An answer that others follow is old already: the last one tells what holds.
    settle(form, body, answer, now.count === 0);
  });
  underway.set(name, turn);
}

async function post(form, body) {
  try {
    const response = await fetch(form.action, { method: "POST", body, headers: { "Sage-Part": "1" } });
    return { response, text: await response.text() };
  } catch {
    return null;
  }
}

function settle(form, body, answer, isLast) {
  if (!answer) {
    keepDraft(form);
    return tell(form, LOST);
  }
  const page = new DOMParser().parseFromString(answer.text, "text/html");
  const part = page.getElementById(form.dataset.part);
  if (answer.response.ok && !answer.response.redirected) {
    if (part && isLast) put(part);
    return done(form, body);
  }
  if (answer.response.status === 422) {
    if (part) return put(part);
    return tell(form, page.body.textContent.trim());
  }
  if (answer.response.status >= 500) return tell(form, FAILED);
  // Signed out meanwhile, or a page that is too old: a fresh one shows what holds. Drafts are kept.
  keepDraft(form);
  location.reload();
}

function keepDraft(form) {
  form.querySelectorAll("textarea").forEach((field) => field.dispatchEvent(new Event("input", { bubbles: true })));
}

function put(part) {
  const old = document.getElementById(part.id);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  old.replaceWith(part);
  if (!focused) return;
  const same = focused.id && document.getElementById(focused.id);
  (same || part).focus({ preventScroll: true });
}

function done(form, body) {
  tell(form, "");
  if (!form.dataset.said) return;
  // What was written since then stays: only what was sent is kept by now.
  form.querySelectorAll("textarea").forEach((field) => {
    if (field.value === body.get(field.name)) field.value = "";
  });
  keepDraft(form);
  renew(form);
  toast(form.dataset.said);
  form.dispatchEvent(new CustomEvent("kept", { bubbles: true }));
}

function tell(form, words) {
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

// A tick is shown at once; the answer puts it right.
function showTick(button) {
  if (button?.getAttribute("role") !== "checkbox") return;
  const isDone = button.value === "1";
  button.setAttribute("aria-checked", String(isDone));
  button.value = isDone ? "0" : "1";
}

// The same words sent twice under one id are kept once; the next ones need their own.
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

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
