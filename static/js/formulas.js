// Formulas. The server sends their TeX as text (markdown_worker.py), and Temml, which is loaded with the first of them,
// shows it as MathML. What Temml can't read stays as it is written, and so does what is copied.

import { forEachIn } from "./added.js";
import { isModest } from "./tex.js";

const FORMULA = ".formula, .formula-block";
const MARK = 2; // characters on each side
const DEEPEST = 100; // elements within each other
const MOST = 10_000; // elements
const MOST_SHOWN = 100_000; // characters of all that a page shows
const LARGEST = [50, 500]; // em, pt

let loading = null;
let isFitDue = false;
let shown = null; // characters of what the page shows, while some are set

export function setUpFormulas(page) {
  const address = document.getElementById("formulas")?.dataset.script;
  if (!address) return;
  forEachIn(page, FORMULA, (formula) => {
    // Without waiting once it is there: nothing is painted in between.
    if (window.temml) show(formula, page);
    else (loading ??= load(address).catch(loadLater)).then(() => show(formula, page), () => {});
  });
  addEventListener("resize", () => fitSoon(page), { passive: true });
  document.addEventListener("copy", copySources);
}

// The next formula tries again.
function loadLater(error) {
  loading = null;
  throw error;
}

// It isn't a module, so `import` can't read what it exports.
function load(address) {
  const script = Object.assign(document.createElement("script"), { src: address });
  return new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", (event) => {
      script.remove();
      reject(event);
    });
    document.head.append(script);
  });
}

function show(formula, page) {
  if (formula.dataset.source) return;
  const source = formula.textContent;
  const tex = source.slice(MARK, -MARK);
  if (!isModest(tex) || !hasRoom(source, page)) return;
  const displayMode = formula.matches(".formula-block");
  try {
    const options = { displayMode, throwOnError: true, trust: false, maxSize: LARGEST };
    const tree = temml.__renderToMathMLTree(tex, options);
    makeHarmless(tree);
    const math = tree.toNode();
    formula.dataset.source = source;
    formula.replaceChildren(math);
  } catch {
    return; // The source stays.
  }
  fitSoon(page);
}

// The work of each has a limit, so this limits the page's. What was tried and can't be set counts, too.
function hasRoom({ length }, page) {
  if (shown === null) {
    shown = 0;
    for (const { dataset } of page.querySelectorAll("[data-source]")) shown += dataset.source.length;
    queueMicrotask(() => (shown = null)); // after all that came together
  }
  if (shown + length > MOST_SHOWN) return false;
  shown += length;
  return true;
}

// No style attributes, which the policy forbids, but properties; no names, which the page's own elements have; no links.
function makeHarmless(node, depth = 0, seen = { count: 0 }) {
  if (depth > DEEPEST || ++seen.count > MOST || "href" in node) throw new RangeError();
  const { attributes, children } = node;
  if (attributes?.style) {
    const [name, value] = attributes.style.replace(";", "").split(":");
    node.style[name] = value.trim();
  }
  delete attributes?.style;
  delete attributes?.id;
  for (const child of children ?? []) makeHarmless(child, depth + 1, seen);
}

// One that is wider than its line gets a line of its own, which scrolls.
function fitSoon(page) {
  if (isFitDue) return;
  isFitDue = true;
  requestAnimationFrame(() => {
    isFitDue = false;
    const formulas = [...page.querySelectorAll("[data-source]")];
    for (const formula of formulas) formula.classList.remove("is-wide");
    const areWide = formulas.map(isWide);
    formulas.forEach((formula, place) => {
      if (!areWide[place]) return formula.removeAttribute("tabindex");
      formula.classList.add("is-wide");
      formula.tabIndex = 0;
    });
  });
}

function isWide(formula) {
  const line = formula.closest("p, li, td, th, h3, h4, h5, h6");
  return line !== null && formula.scrollWidth > line.clientWidth + 1;
}

// Makes a copy of a part of the page what the server sent.
export function restoreSources(copy) {
  for (const formula of copy.querySelectorAll("[data-source]")) {
    formula.replaceChildren(formula.dataset.source);
    formula.classList.remove("is-wide");
    formula.removeAttribute("tabindex");
    formula.removeAttribute("data-source");
  }
}

// Returns what an action does while formulas are their source.
export function withSources(part, action) {
  const formulas = [...part.querySelectorAll(FORMULA)].filter(({ dataset }) => dataset.source);
  const shown = formulas.map((formula) => [formula, [...formula.childNodes]]);
  for (const [formula] of shown) formula.replaceChildren(formula.dataset.source);
  try {
    return action();
  } finally {
    for (const [formula, nodes] of shown) formula.replaceChildren(...nodes);
  }
}

// A selection that begins or ends in a formula has all of it.
function copySources(event) {
  // Firefox keeps the page's selection while a field has the focus.
  if (event.target instanceof Element && event.target.closest("input, textarea")) return;
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0);
  const [first, last] = [range.startContainer, range.endContainer].map(formulaAround);
  const isWithin = first || last || range.cloneContents().querySelector("[data-source]");
  if (!isWithin) return;
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  selection.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  const holder = document.createElement("div");
  const words = withSources(document, () => {
    holder.append(range.cloneContents());
    return selection.toString();
  });
  event.clipboardData.setData("text/plain", words);
  event.clipboardData.setData("text/html", holder.innerHTML);
  event.preventDefault();
}

function formulaAround(node) {
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest(".formula[data-source], .formula-block[data-source]");
}
