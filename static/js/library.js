// Uploads to the library, and of photos to a day of the journal: files and folders that are dropped, pasted or chosen are
// sent one by one, with progress for each. Without scripts the form sends them all at once.

import { eraseCopies } from "./device-copy.js";
import { newId } from "./parts.js";

const AT_ONCE = 2;
const TRIES = 4;
const RETRY_MS = 2000;
const REFRESH_MS = 700;
const WHOLE_PERCENT = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });

const form = document.getElementById("drop");
const zone = document.getElementById("drop-zone");
const list = document.getElementById("uploads");
const state = document.getElementById("uploads-state");

const partId = form?.dataset.part ?? "library-progress"; // the page's own list

const waiting = [];
const stored = new Set(); // rows whose files the page's list doesn't have yet
const listed = new WeakMap(); // by request: the rows whose files its answer has
let running = 0;
let sent = 0;
let refreshing = 0;

function setUp() {
  for (const field of form.querySelectorAll("input[type=file]")) {
    field.addEventListener("change", () => {
      take([...field.files]);
      field.value = "";
    });
  }
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.target.id === partId) listed.set(detail.xhr, [...stored]);
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => removeListed(listed.get(detail.xhr) ?? []));
  if ("takesPaste" in form.dataset) addEventListener("paste", onPaste);
  for (const name of ["dragenter", "dragover"]) {
    addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // otherwise the browser opens the file
      unfold();
      form.classList.add("is-over");
    });
  }
  addEventListener("dragleave", (event) => event.relatedTarget || form.classList.remove("is-over"));
  addEventListener("drop", async (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    form.classList.remove("is-over");
    take(await filesOf(event.dataTransfer));
  });
  addEventListener("beforeunload", (event) => running + waiting.length && event.preventDefault());
}

// On a past day without photos the form is folded.
function unfold() {
  const fold = form.closest("details");
  if (fold) fold.open = true;
}

// What is pasted into a field of text belongs there.
function onPaste(event) {
  const files = [...(event.clipboardData?.files ?? [])];
  if (!files.length || event.target.closest?.("input, textarea, [contenteditable]")) return;
  event.preventDefault();
  unfold();
  take(files);
}

// Folders are read with all that is in them. The entries must be taken before the first wait.
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  return (await Promise.all(entries.map(readEntry))).flat();
}

async function readEntry(entry) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(readEntry))).flat();
}

function take(files) {
  const most = Number(form.dataset.maxFiles);
  const batch = newId();
  for (const file of files.slice(0, most)) add(file, batch);
  if (files.length > most) {
    const left = files.length - most;
    fail(row(words("leftOut", { count: left })), words("tooMany", { most }));
  }
  next();
}

function add(file, batch) {
  const upload = { file, batch, tries: 0, row: row(file.name) };
  const most = Number(form.dataset.maxMb);
  if (file.size > most * 1024 * 1024) {
    fail(upload.row, words("tooLarge", { size: Math.round(file.size / 1024 / 1024), most }));
    return;
  }
  if (!file.size) {
    fail(upload.row, words("empty"));
    return;
  }
  upload.row.bar = document.createElement("progress");
  upload.row.bar.max = 1;
  upload.row.bar.value = 0;
  upload.row.bar.setAttribute("aria-label", words("barLabel", { name: file.name }));
  upload.row.item.append(upload.row.bar);
  show(upload.row, words("waits"));
  waiting.push(upload);
}

// The page has the texts in its language, with places for values.
function words(name, values = {}) {
  return form.dataset[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

function row(name) {
  const item = document.createElement("li");
  const title = Object.assign(document.createElement("span"), { className: "upload-name", textContent: name });
  const state = Object.assign(document.createElement("span"), { className: "upload-state" });
  item.append(title, state);
  list.append(item);
  return { item, state };
}

function show(row, text) {
  row.state.textContent = text;
}

function fail(row, text) {
  row.bar?.remove();
  row.item.classList.add("is-failed");
  show(row, text);
}

// It stands there until the page's own list has the file.
function keep(row) {
  row.bar.remove();
  show(row, words("stored"));
  stored.add(row);
}

function removeListed(rows) {
  for (const row of rows) {
    row.item.remove();
    stored.delete(row);
  }
}

function next() {
  while (running < AT_ONCE && waiting.length) send(waiting.shift());
  if (!running && sent) {
    state.textContent = words("allSent", { count: sent });
    sent = 0;
  }
}

function send(upload) {
  running += 1;
  upload.tries += 1;
  const body = new FormData(form);
  body.delete("files");
  body.append("batch", upload.batch);
  body.append("file", upload.file);
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const share = event.loaded / event.total;
    upload.row.bar.value = share;
    show(upload.row, share < 1 ? WHOLE_PERCENT.format(share) : words("stores"));
  });
  request.addEventListener("loadend", () => {
    running -= 1;
    end(upload, request);
    next();
  });
  request.send(body);
}

function end(upload, request) {
  const { status, response } = request;
  const taken = response?.documents?.[0] ?? response?.photos?.[0];
  const wait = Number(request.getResponseHeader("Retry-After")) * 1000;
  if (status === 200 && taken) {
    if (taken.state === "refused") fail(upload.row, taken.reason);
    else keep(upload.row);
    sent += taken.state === "refused" ? 0 : 1;
    refresh();
  } else if (wait || !status || status >= 500) {
    const isWait = Boolean(wait);
    if (upload.tries >= TRIES && !isWait) fail(upload.row, words(status ? "broken" : "lost"));
    else again(upload, wait || RETRY_MS * upload.tries);
  } else {
    const isSignedOut = status === 401 || status === 403;
    if (isSignedOut) eraseCopies();
    fail(upload.row, isSignedOut ? words("signedOut") : (response?.error ?? words("broken")));
  }
}

function again(upload, wait) {
  show(upload.row, wait > 5000 ? words("pauses", { seconds: Math.ceil(wait / 1000) }) : words("again"));
  running += 1; // keeps its place
  setTimeout(() => {
    running -= 1;
    waiting.unshift(upload);
    next();
  }, wait);
}

// The list of what is there. Documents that are being read renew theirs themselves.
function refresh() {
  refreshing ||= setTimeout(() => {
    refreshing = 0;
    const part = document.getElementById(partId);
    htmx.ajax("GET", part.dataset.address, { target: part, swap: "outerHTML" });
  }, REFRESH_MS);
}

if (form) setUp();
