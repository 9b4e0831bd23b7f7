// The month by arrow keys: left and right to the day before and after that has something, up and down to the one in
// the same column, Page Up and Page Down to another month.

// The parts next to the stream are open on a wide screen, and closed where they are above it.
const wide = matchMedia("(width >= 60rem)");
const folds = [...document.querySelectorAll(".beside-fold")];

function unfold() {
  for (const fold of folds) fold.open = wide.matches;
}

wide.addEventListener("change", unfold);
unfold();

const month = document.querySelector(".month");
const days = [...month.querySelectorAll("a")];

month.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const at = days.indexOf(event.target.closest("a"));
  const next = at < 0 ? undefined : moved(event.key, at);
  if (next === undefined) return;
  event.preventDefault();
  if (next?.rel) next.click();
  else next?.focus();
});

function moved(key, at) {
  const isInColumn = (day) => day.dataset.column === days[at].dataset.column;
  switch (key) {
    case "ArrowLeft":
      return days[at - 1] ?? null;
    case "ArrowRight":
      return days[at + 1] ?? null;
    case "ArrowUp":
      return days.slice(0, at).findLast(isInColumn) ?? null;
    case "ArrowDown":
      return days.slice(at + 1).find(isInColumn) ?? null;
    case "Home":
      return days[0];
    case "End":
      return days.at(-1);
    case "PageUp":
      return document.getElementById("month-earlier");
    case "PageDown":
      return document.getElementById("month-later");
    default:
      return undefined;
  }
}
