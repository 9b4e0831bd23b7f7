// The palette: pages, conversations, next steps and what a search finds, in one list below one field. The field keeps
// the focus; the arrow keys choose an entry, and Enter clicks it. Loaded when the dialog first opens, so it imports nothing.

const PAUSE_MS = 200;
const SLOW_MS = 150;
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

let palette;

export function show(dialog, actions) {
  palette ??= new Palette(dialog, actions);
  palette.show();
}

class Palette {
  active = null;
  isChosen = false; // by the person, and not just the first one
  request = new AbortController();
  pause = 0;

  constructor(dialog, actions) {
    const byId = (id) => dialog.querySelector(`#palette-${id}`);
    Object.assign(this, { dialog, actions, words: dialog.dataset });
    for (const name of ["list", "found", "pages", "always", "status", "again"]) this[name] = byId(name);
    [this.field, this.signIn] = [byId("q"), byId("sign-in")];
    asOptions(this.list);
    this.field.addEventListener("input", () => this.onInput());
    this.field.addEventListener("keydown", (event) => this.onKey(event));
    this.list.addEventListener("click", (event) => this.onClick(event));
    // A press would take the focus from the field.
    this.list.addEventListener("mousedown", (event) => event.button === 0 && event.preventDefault());
    this.again.addEventListener("click", () => {
      this.field.focus();
      this.say("");
      this.retry();
    });
    dialog.addEventListener("close", () => this.clear());
  }

  get query() {
    return this.field.value.trim();
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")].filter((option) => !option.hidden);
  }

  show() {
    this.isChosen = false;
    this.narrow();
    this.chooseFirst();
    this.ask(this.query ? PAUSE_MS : 0);
  }

  clear() {
    clearTimeout(this.pause);
    this.request.abort();
    this.field.value = "";
    this.found.replaceChildren();
    this.say("");
  }

  onInput() {
    this.isChosen = false;
    this.found.replaceChildren();
    this.say("");
    this.narrow();
    this.chooseFirst();
    this.ask(PAUSE_MS);
  }

  onKey(event) {
    // While an input method composes, the keys belong to it (key code 229 in older browsers).
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key in STEPS) this.move(STEPS[event.key]);
    else if (event.key === "Enter" && this.active?.isConnected) this.press(event);
    else return;
    event.preventDefault();
  }

  // With the keys that open a link elsewhere; a key that is held presses once.
  press({ repeat, ctrlKey, metaKey, shiftKey }) {
    const how = { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true };
    if (!repeat) this.active.dispatchEvent(new MouseEvent("click", how));
  }

  onClick(event) {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    if (option.dataset.post) return this.post(option);
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { query } = this;
    this.dialog.close();
    this.actions[option.dataset.do]?.(query);
  }

  choose(option) {
    this.active?.setAttribute("aria-selected", "false");
    this.active = option ?? null;
    if (!option) return this.field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    this.field.setAttribute("aria-activedescendant", option.id);
    if (option === this.options[0]) this.list.scrollTop = 0;
    else option.scrollIntoView({ block: "nearest" });
  }

  // Only the person chooses a step: an answer that comes late would put another entry under Enter.
  chooseFirst() {
    if (!this.isChosen || !this.active?.isConnected) this.choose(this.options.find((option) => !option.dataset.post));
  }

  move(step) {
    const all = this.options;
    this.isChosen = true;
    // What was chosen may have gone meanwhile.
    const at = all.indexOf(this.active);
    this.choose(at < 0 ? all.at(step > 0 ? 0 : -1) : all.at((at + step) % all.length));
  }

  // Pages by the beginnings of their words. What can be done with any words is first without words, and last with them.
  narrow() {
    const words = wordsOf(this.query);
    for (const option of this.pages.querySelectorAll("[role=option]")) {
      const names = wordsOf((option.querySelector(".palette-name") ?? option).textContent);
      const isMeant = words.every((word) => names.some((name) => name.startsWith(word)));
      option.hidden = words.length ? !isMeant : "extra" in option.dataset;
    }
    this.pages.hidden = !this.pages.querySelector("[role=option]:not([hidden])");
    if (words.length) this.list.append(this.always);
    else this.list.prepend(this.always);
    for (const quote of this.always.querySelectorAll("q")) {
      quote.hidden = !words.length;
      quote.textContent = this.query;
    }
    const search = this.always.querySelector("[data-search]");
    search.search = words.length ? `?${new URLSearchParams({ q: this.query })}` : "";
  }

  ask(wait) {
    clearTimeout(this.pause);
    this.request.abort();
    this.pause = setTimeout(() => this.load(), wait);
  }

  async load() {
    const { signal } = (this.request = new AbortController());
    const slow = setTimeout(() => this.say(this.words.loading), SLOW_MS);
    this.list.setAttribute("aria-busy", "true");
    try {
      const html = await partOf(`${this.words.address}?${new URLSearchParams({ q: this.query })}`, { signal });
      if (!signal.aborted) this.put(html);
    } catch (error) {
      if (!signal.aborted) this.fail(error, this.words.failed, () => this.ask(0));
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) this.list.removeAttribute("aria-busy");
    }
  }

  put(html) {
    htmx.swap(this.found, html, { swapStyle: "innerHTML" });
    asOptions(this.found);
    const status = this.found.querySelector("[data-status]");
    // The server doesn't know which pages' names begin with the words.
    const isFound = !status || ("nothing" in status.dataset && !this.pages.hidden);
    this.say(isFound ? "" : status.textContent);
    this.chooseFirst();
  }

  // Ticks a next step, or takes that back, also where the palette or the page is left at once. The answer is its
  // entry as it is now.
  async post(option) {
    if (option.disabled) return;
    option.disabled = true;
    const token = document.querySelector("#new-conversation [name=csrfmiddlewaretoken]").value;
    // What the entry shows: a date that was ticked before, or a change that was undone, is left alone.
    const { occurrence = "", effect = "" } = option.dataset;
    const body = new URLSearchParams({ csrfmiddlewaretoken: token, done: "1", then: "palette", occurrence, effect });
    try {
      this.replace(option, await partOf(option.dataset.post, { method: "POST", body, keepalive: true }));
    } catch (error) {
      option.disabled = false;
      this.fail(error, this.words.lost, () => this.post(option));
    }
  }

  replace(option, html) {
    const { step, said, ticked } = new DOMParser().parseFromString(html, "text/html").querySelector("button").dataset;
    // The page may show the same step.
    const tick = document.querySelector(`#action-${step} .tick`);
    if (tick && (tick.getAttribute("aria-checked") === "true") !== (ticked !== undefined)) this.actions.turnOver(tick);
    if (!this.dialog.open) this.actions.toast(said);
    if (!option.isConnected) return; // other words were typed meanwhile
    const [wasActive, group] = [option === this.active, option.parentElement];
    htmx.swap(option, html, { swapStyle: "outerHTML" });
    asOptions(group);
    const changed = document.getElementById(option.id);
    this.choose(wasActive ? changed : this.active);
    this.say(said);
  }

  fail(error, words, retry) {
    this.retry = retry;
    const isSignedOut = error instanceof SignedOut;
    const said = isSignedOut ? this.words.signedOut : navigator.onLine ? words : this.words.offline;
    if (!this.dialog.open) return this.actions.toast(said);
    this.signIn.search = `?${new URLSearchParams({ next: location.pathname + location.search })}`;
    this.say(said, { canRetry: !isSignedOut, isSignedOut });
  }

  say(words, { canRetry = false, isSignedOut = false } = {}) {
    this.status.textContent = words;
    this.again.hidden = !canRetry;
    this.signIn.hidden = !isSignedOut;
  }
}

class SignedOut extends Error {}

let count = 0;

// Links and buttons become the options of the list; what stands above them names their group.
function asOptions(part) {
  for (const head of part.querySelectorAll(".palette-group")) {
    head.parentElement.setAttribute("role", "group");
    head.parentElement.setAttribute("aria-label", head.textContent);
    head.setAttribute("aria-hidden", "true");
  }
  for (const option of part.querySelectorAll("a, button")) {
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.tabIndex = -1;
    option.id ||= `palette-option-${(count += 1)}`;
  }
}

// The part of a page at an address, also where it refuses something with a sentence.
async function partOf(address, how) {
  const response = await fetch(address, { ...how, headers: { "HX-Request": "true" }, redirect: "manual" });
  if (response.type === "opaqueredirect") throw new SignedOut();
  const isRefused = response.status === 422 || (response.status === 429 && response.headers.has("HX-Retarget"));
  if (!response.ok && !isRefused) throw new Error(`${response.status}`);
  return response.text();
}

function wordsOf(text) {
  const plain = text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.split(/\s+/).filter(Boolean);
}
