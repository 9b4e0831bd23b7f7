// Makes a turn or a round on the page what the server has sent of it. What is equal stays: the same elements in their
// place, with focus and selection, and nothing of them is styled or laid out again.

import { restoreSources } from "../formulas.js";

const CHANGED = ".code-copy, [data-source]"; // by code.js and formulas.js
const WHOLE = "pre, input, .formula, .formula-block"; // Their scripts take new elements only, and a box has a state.

export function mend(shown, sent) {
  copyAttributes(shown, sent);
  const before = partsOf(shown);
  const pairs = new Map(partsOf(sent).map((part, place) => [part, before[place]]));
  const kept = new Set(pairs.values());
  for (const node of [...shown.childNodes]) if (!kept.has(node)) node.remove();
  let next = shown.firstChild;
  for (const node of [...sent.childNodes]) {
    const old = pairs.get(node);
    if (!old) {
      shown.insertBefore(node, next);
      continue;
    }
    next = old.nextSibling;
    mendPart(old, node);
  }
}

// A copy of a part of the page, as the server has sent it.
export function copyAsSent(element) {
  const copy = element.cloneNode(true);
  restoreSources(copy);
  for (const button of copy.querySelectorAll(".code-copy")) button.remove();
  return copy;
}

// What is compared, in order: of a turn its heading and its rounds, of a round its words, of words their blocks, and so on.
// An element that goes or comes in front of others has all of these styled again, because of styles such as `* + *`.
function partsOf(element) {
  if (element.matches(".turn")) return [...element.children].filter((child) => child.matches("h2, .round"));
  if (element.matches(".round")) return [...element.children].filter((child) => child.matches(".prose"));
  return [...element.childNodes];
}

function mendPart(shown, sent) {
  const isBlock = !(shown instanceof Element && shown.matches(".round, .prose"));
  if (isBlock && isSame(shown, sent)) return;
  if (shown instanceof Element && shown.nodeName === sent.nodeName && !shown.matches(WHOLE)) mend(shown, sent);
  else shown.replaceWith(sent);
}

function isSame(shown, sent) {
  const isChanged = shown instanceof Element && shown.querySelector(CHANGED);
  return (isChanged ? copyAsSent(shown) : shown).isEqualNode(sent);
}

function copyAttributes(shown, sent) {
  for (const { name } of [...shown.attributes]) if (!sent.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of sent.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
}
