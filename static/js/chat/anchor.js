// What must stay in view while words arrive below it: the question that waits, the card with help lines beside the
// last message, and what a conversation came to at its end.

const GAP_PX = 12;

export function anchor() {
  return [question(), ending(), card()].find((element) => element?.checkVisibility()) ?? null;
}

// How far the page scrolls at most so that all of it, if it fits, is below the header.
export function topOf(element) {
  const head = document.querySelector(".site-head").getBoundingClientRect().height;
  return Math.max(0, Math.floor(element.getBoundingClientRect().top + scrollY - head - GAP_PX));
}

export function isOnScreen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < document.querySelector(".dock").getBoundingClientRect().top;
}

export function pendingQuestion() {
  return document.querySelector("#open-turn .call.is-pending");
}

function question() {
  const asked = pendingQuestion();
  if (!asked?.querySelector("legend.visually-hidden")) return asked;
  // Without words of its own it is asked by the words above it.
  return asked.previousElementSibling?.querySelector(".prose > :last-child") ?? asked;
}

function ending() {
  return document.querySelector("#ending > *");
}

function card() {
  const last = [...document.querySelectorAll(".safety-card")].at(-1);
  if (!last) return null;
  const said = [...document.querySelectorAll("#messages > .said, #sending > .said")].at(-1);
  const isAfter = !said || said.compareDocumentPosition(last) & Node.DOCUMENT_POSITION_FOLLOWING;
  return isAfter ? last : null;
}
