// The viewer of a document's pages: brings the marked sentence into view, zooms, and on a narrow window is a sheet.

import { isBusyPage, isRedirected, toast } from "./parts.js";

const LEVELS = 4;
const NARROW = matchMedia("(width < 60rem)");

const place = document.getElementById("viewer-place");
const sheet = document.getElementById("viewer-sheet");
const status = document.getElementById("viewer-status");
const told = document.getElementById("toast");

let level = 0;
let newest = null; // the request whose answer will be shown
let awaited = false;
let asked = null; // the link that was followed by the keyboard, to which Escape returns

const viewer = () => document.getElementById("viewer");

function setUp() {
  document.body.addEventListener("htmx:beforeRequest", onAsked);
  document.body.addEventListener("htmx:beforeSwap", onAnswer);
  document.body.addEventListener("htmx:sendError", ({ detail }) => isNewest(detail) && showFailed(detail.target));
  document.body.addEventListener("htmx:load", ({ detail }) => detail.elt.id === "viewer" && onShown(detail.elt));
  for (const button of document.querySelectorAll("[data-viewer-open]")) button.addEventListener("click", open);
  sheet.addEventListener("close", onClosed);
  if (NARROW.matches && location.hash === "#viewer") open();
  NARROW.addEventListener("change", () => sheet.close());
  for (const container of [place, sheet]) {
    container.addEventListener("click", onPress);
    container.addEventListener("keydown", onKey);
  }
  show(viewer());
  showPageOfAnchor();
}

// Links in conversations name a page by an anchor. htmx reads where the viewer loads from only after this.
function showPageOfAnchor() {
  const found = /^#page-(\d{1,6})$/.exec(location.hash);
  if (!found) return;
  const shown = viewer();
  const address = `${shown.dataset.address}?page=${found[1]}`;
  if (shown.hasAttribute("hx-get")) shown.setAttribute("hx-get", address);
  else htmx.ajax("GET", address, { source: shown, target: shown, swap: "outerHTML" });
}

// Only the newest request is shown: an answer to an earlier one would replace what the newest is to replace.
function onAsked(event) {
  const { elt, target, xhr, requestConfig } = event.detail;
  if (target.id !== "viewer") return;
  const isFirstPage = elt === target; // which nobody asked for
  if (isFirstPage && newest) {
    event.preventDefault();
    return;
  }
  newest?.abort();
  newest = xhr;
  target.setAttribute("aria-busy", "true");
  if (isFirstPage) return;
  awaited = true;
  if (elt.closest("#viewer")) return;
  for (const other of document.querySelectorAll(".cited[aria-current]")) other.removeAttribute("aria-current");
  elt.setAttribute("aria-current", "true");
  asked = requestConfig.triggeringEvent?.detail === 0 ? elt : null;
  if (NARROW.matches) open();
}

// The answers of which `parts.js` shows nothing: a page of its own, such as the sign-in, and one for a busy Sage.
function onAnswer({ detail }) {
  const { target, xhr, requestConfig } = detail;
  if (target.id !== "viewer") return;
  if (!isNewest(detail)) detail.shouldSwap = false;
  else if (isRedirected(xhr, requestConfig.path)) location.reload();
  else if (!detail.shouldSwap || isBusyPage(xhr)) showFailed(target);
}

function isNewest({ target, xhr }) {
  return target.id === "viewer" && xhr === newest;
}

function showFailed(shown) {
  const words = told.dataset.failed;
  shown.removeAttribute("aria-busy");
  shown.querySelector(".viewer-wait")?.replaceChildren(words);
  awaited = false;
  toast(words);
}

function onShown(shown) {
  show(shown);
  if (awaited) status.textContent = shown.dataset.said ?? "";
  // htmx has given the focus to the same link of the new page, if there is one.
  const isFocusLost = document.activeElement === document.body;
  const isElsewhere = asked && !shown.contains(document.activeElement);
  if (awaited && (isFocusLost || isElsewhere)) shown.querySelector(".viewer-scroll")?.focus();
  awaited = false;
}

function show(shown) {
  zoom(shown, level);
  const scroller = shown.querySelector(".viewer-scroll");
  const marks = [...(scroller?.querySelectorAll("rect, mark") ?? [])];
  if (marks.length) requestAnimationFrame(() => reveal(scroller, marks));
}

// Scrolls inside the viewer alone: the page beside it stays where it is.
function reveal(scroller, marks) {
  const outer = scroller.getBoundingClientRect();
  const lines = marks.map((mark) => mark.getBoundingClientRect());
  const left = Math.min(...lines.map((line) => line.left)) - outer.left - 16;
  const right = Math.max(...lines.map((line) => line.right)) - outer.right + 16;
  scroller.scrollTop += lines[0].top - outer.top - outer.height / 3;
  scroller.scrollLeft += Math.min(left, right);
}

function zoom(shown, wanted) {
  level = Math.min(LEVELS - 1, Math.max(0, wanted));
  shown.dataset.level = level;
  const out = shown.querySelector("#viewer-out");
  if (!out) return;
  out.setAttribute("aria-disabled", String(level === 0));
  shown.querySelector("#viewer-in").setAttribute("aria-disabled", String(level === LEVELS - 1));
}

// The middle of what is visible stays in the middle, unless a mark that was visible would leave.
function change(by) {
  const scroller = viewer().querySelector(".viewer-scroll");
  const marks = [...scroller.querySelectorAll("rect, mark")];
  const isMarkInView = marks.some((mark) => isInView(mark, scroller));
  const [across, down] = middleOf(scroller);
  zoom(viewer(), level + by);
  scroller.scrollLeft = across * scroller.scrollWidth - scroller.clientWidth / 2;
  scroller.scrollTop = down * scroller.scrollHeight - scroller.clientHeight / 2;
  if (isMarkInView && !marks.some((mark) => isInView(mark, scroller))) reveal(scroller, marks);
}

function middleOf(scroller) {
  return [
    (scroller.scrollLeft + scroller.clientWidth / 2) / scroller.scrollWidth,
    (scroller.scrollTop + scroller.clientHeight / 2) / scroller.scrollHeight,
  ];
}

function isInView(mark, scroller) {
  const inner = mark.getBoundingClientRect();
  const outer = scroller.getBoundingClientRect();
  const isBeside = outer.left <= inner.left && inner.right <= outer.right;
  return isBeside && outer.top <= inner.top && inner.bottom <= outer.bottom;
}

function onPress(event) {
  const button = event.target.closest("[data-zoom]");
  if (button) change(Number(button.dataset.zoom));
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && asked && !sheet.open) {
    asked.focus();
    return;
  }
  const by = { "+": 1, "=": 1, "-": -1 }[event.key];
  if (!by || !viewer().querySelector("#viewer-in")) return;
  event.preventDefault();
  change(by);
}

// What is outside of an open sheet is neither seen nor announced.
function open() {
  if (sheet.open) return;
  sheet.append(viewer(), status, told);
  sheet.showModal();
  show(viewer());
}

function onClosed() {
  place.append(viewer(), status);
  document.body.append(told);
}

if (place) setUp();
