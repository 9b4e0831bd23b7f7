// Files that are selected together: how many, all of a list at once, a range with Shift, and Escape to end it.

const form = document.getElementById("chosen");
const count = document.getElementById("chosen-count");
const boxes = [...document.querySelectorAll('input[form="chosen"]')];
const wholes = [...document.querySelectorAll("[data-choose-all]")];
let last = null;

// Those that a box for all of them stands for: of its folder, or of the page.
function of(whole) {
  const folder = whole.closest("details");
  return folder ? boxes.filter((box) => folder.contains(box)) : boxes;
}

function show() {
  const number = boxes.filter((box) => box.checked).length;
  count.textContent =
    number > 1 ? form.dataset.more.replace("{count}", number) : number ? form.dataset.one : form.dataset.none;
  for (const button of form.querySelectorAll("button")) button.disabled = !number;
  for (const whole of wholes) {
    const checked = of(whole).filter((box) => box.checked).length;
    whole.checked = checked > 0 && checked === of(whole).length;
    whole.indeterminate = checked > 0 && !whole.checked;
  }
}

for (const whole of wholes) {
  whole.addEventListener("change", () => {
    for (const box of of(whole)) box.checked = whole.checked;
    show();
  });
}

for (const box of boxes) {
  box.addEventListener("click", (event) => {
    if (event.shiftKey && last) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((one, other) => one - other);
      for (const between of boxes.slice(from, to + 1))
        if (between.checkVisibility()) between.checked = box.checked; // none in a closed folder
    }
    last = box;
    show();
  });
}

// Before others get the key: a menu that it closes is still open. In a field it empties the field.
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || event.isComposing || event.target.matches("input:not([type=checkbox]), textarea")) return;
    if (!document.querySelector(":modal, :popover-open, details.menu[open]")) document.getElementById("choosing-ends").click();
  },
  { capture: true },
);

// A page that the browser kept comes back with its boxes.
addEventListener("pageshow", show);
show();
