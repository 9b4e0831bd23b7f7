// A button that is replaced or moves between press and release gets no click. Changes to the page wait here until
// the click has come.

const PRESSED = "a, button, input, label, select, summary";
const CLICK_MS = 50; // The click follows the release.
const LONGEST_MS = 5000; // The release may happen outside this page.

const waiting = [];
let isOn = false;
let timer = 0;

export function isPressed() {
  return isOn;
}

// Run an action now or, while something is pressed, after the release, in order.
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
// Only the space bar clicks on release.
addEventListener("keydown", (event) => event.key === " " && !event.repeat && begin(event), early);
addEventListener("keyup", (event) => event.key === " " && end(), early);
addEventListener("blur", end);
