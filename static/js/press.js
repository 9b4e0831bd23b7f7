// What somebody presses just now stays what and where it is: a button that is exchanged or moves away between
// press and release gets no click. Whatever would do that waits until the click has come.

const PRESSED = "a, button, input, label, select, summary";
const CLICK_MS = 50; // The click comes after the finger has gone.
const LONGEST_MS = 5000; // A release that this page never sees.

const waiting = [];
let isOn = false;
let timer = 0;

export function isPressed() {
  return isOn;
}

// Does it now, or as soon as nothing is pressed any more, in the order in which it was asked for.
export function afterPress(action) {
  if (isOn) waiting.push(action);
  else action();
}

function begin(event) {
  if (!(event.target instanceof Element && event.target.closest(PRESSED))) return;
  isOn = true;
  endIn(LONGEST_MS);
}

function end() {
  if (isOn) endIn(CLICK_MS);
}

function endIn(time) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    isOn = false;
    for (const action of waiting.splice(0)) action();
  }, time);
}

const early = { capture: true, passive: true };
addEventListener("pointerdown", (event) => event.button === 0 && begin(event), early);
for (const name of ["pointerup", "pointercancel", "contextmenu", "dragstart"]) addEventListener(name, end, early);
// Of the keys only this one acts when it goes up.
addEventListener("keydown", (event) => event.key === " " && !event.repeat && begin(event), early);
addEventListener("keyup", (event) => event.key === " " && end(), early);
addEventListener("blur", end);
