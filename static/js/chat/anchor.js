// What must stay in view while text arrives below it: the open question, the safety card of the last message, the
// summary at the end of a conversation.

const GAP_PX = 12;

export function anchor() {
  return [question(), ending(), card()].find((element) => element?.checkVisibility()) ?? null;
}

// The scroll position at which an element is just below the header.
export function topOf(element) {
  return Math.max(0, Math.floor(element.getBoundingClientRect().top + scrollY - headEnd() - GAP_PX));
}

// Whether all of it is between header and composer on a page that isn't scrolled. The page is higher then only by the
// room that is left above the composer.
export function fitsUnscrolled(content) {
  const footer = document.querySelector(".chat-footer");
  const isCovered = footer.querySelector(".chat-hints > :not([hidden])");
  if (isCovered || getComputedStyle(footer).position !== "sticky") return false;
  const covered = footer.getBoundingClientRect().bottom - footer.querySelector(".composer").getBoundingClientRect().top;
  const end = content.getBoundingClientRect().bottom - parseFloat(getComputedStyle(content).paddingBlockEnd) + scrollY;
  return end + GAP_PX <= innerHeight - covered;
}

// Whether the reader has scrolled to the composer, in a window so low that it scrolls with the page.
export function isComposerReached() {
  const footer = document.querySelector(".chat-footer");
  if (getComputedStyle(footer).position === "sticky") return false;
  return footer.querySelector(".composer").getBoundingClientRect().top < innerHeight;
}

// Whether the open question can be read: its text is whole between header and composer, or fills what is there.
export function isInView(asked) {
  const { top, bottom, height } = asking(asked).getBoundingClientRect();
  const begin = headEnd();
  // In a low window the composer scrolls with the page.
  const end = Math.min(innerHeight, document.querySelector(".chat-footer").getBoundingClientRect().top);
  if (height > end - begin) return bottom > begin && top < end;
  return top >= begin - 1 && bottom <= end + 1;
}

// What covers the top of the page: the header and the progress of an arc, unless the window is too low for them to stay.
function headEnd() {
  const parts = [".site-head", ".arc-progress"].map((name) => document.querySelector(name));
  const covering = parts.filter((part) => part && getComputedStyle(part).position === "sticky");
  return covering.reduce((height, part) => height + part.getBoundingClientRect().height, 0);
}

export function wordsOf(asked) {
  return asking(asked).textContent.trim();
}

export function pendingQuestion() {
  return document.querySelector("#messages > .is-open .call.is-pending");
}

function question() {
  const asked = pendingQuestion();
  return asked?.querySelector("legend.visually-hidden") ? asking(asked) : asked;
}

// A question without a text of its own is asked by the text above it.
function asking(asked) {
  const own = asked.querySelector("legend");
  if (own && !own.matches(".visually-hidden")) return own;
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
