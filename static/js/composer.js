// The composer: Enter sends, Shift+Enter starts a line, the field grows with its text, a draft survives a reload.
// On a touch screen Enter starts a line, the button sends, and no field takes the focus when a page opens.

const MAX_HEIGHT_SHARE = 0.4;
// What a form of this tab has submitted, until a page shows how that ended (`settleSubmitted`).
const SUBMITTED = "sage-submitted:";
const touch = matchMedia("(hover: none) and (pointer: coarse)");

export function setUpComposer(form) {
  const field = form.elements.namedItem("text");
  // Other people who use this browser don't see the draft.
  const draftKey = `sage-draft:${document.body.dataset.user}:${form.dataset.draft ?? form.getAttribute("action")}`;

  if (!field.value && form.elements.namedItem("do")?.value !== "edit") field.value = stored(draftKey);
  fit(field);
  labelEnter(field);
  touch.addEventListener("change", () => labelEnter(field));
  if ("focus" in field.dataset && !isTouched() && !location.hash) focusEnd(field);

  field.addEventListener("input", () => {
    // The text of an edited message isn't a draft.
    if (form.elements.namedItem("do")?.value !== "edit") store(draftKey, field.value);
    fit(field);
  });

  field.addEventListener("keydown", (event) => {
    // While an input method composes, Enter belongs to it (key code 229 in older browsers).
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    if (isTouched() && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    // A key that is still held from elsewhere sends nothing.
    if (!event.repeat) form.requestSubmit();
  });

  form.addEventListener("submit", (event) => {
    if (!field.value.trim() && !form.querySelector(".attachment:not(.is-refused)")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      field.focus();
      return;
    }
    store(draftKey, "");
  });
  // After everything that sends it in another way.
  addEventListener("submit", (event) => {
    if (event.target === form && !event.defaultPrevented) {
      store(SUBMITTED, JSON.stringify({ draftKey, text: field.value, action: form.action, from: address() }));
    }
  });
}

// Before fields get their drafts: what was submitted is a draft again where the sign-in came instead of its page, a
// refusal of the form, or a page without scripts.
export function settleSubmitted() {
  const submitted = stored(SUBMITTED);
  store(SUBMITTED, "");
  if (!submitted) return;
  const { draftKey, text, action, from } = JSON.parse(submitted);
  const isRefused = document.querySelector("[data-not-taken]") && address() === action;
  const isTaken = document.body.dataset.user && !isRefused && !isBehindError(action, from);
  if (!isTaken && !stored(draftKey)) store(draftKey, text);
}

// Whether a link of an error page without scripts led here, or Back from it or from the browser's own. What is taken
// leads to a page with scripts, from the form's page. Back while the answer is awaited leads to the page before the form's.
function isBehindError(action, from) {
  const [entry] = performance.getEntriesByType("navigation");
  if (entry?.type === "back_forward") return address() === from;
  return document.referrer === action && action !== from;
}

// As in a referrer.
function address() {
  return location.href.split("#", 1)[0];
}

export function isTouched() {
  return touch.matches;
}

export function setText(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// The label of Enter on on-screen keyboards.
function labelEnter(field) {
  field.enterKeyHint = isTouched() ? "enter" : "send";
}

function focusEnd(field) {
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
}

function fit(field) {
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, innerHeight * MAX_HEIGHT_SHARE)}px`;
}

function stored(key) {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function store(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is off: the draft lives as long as its page.
  }
}
