// Shows the example week at a model's pace: one message after another, answers word by word. Without this script, with
// reduced motion, or after “Show it all” everything stands there at once.

const WORD_MS = 45;
const READ_MS = 28; // for each character of what the person writes
const GAP_PX = 48; // below what is being said

const list = document.getElementById("example");
const acts = document.getElementById("example-acts");
let isAtOnce = matchMedia("(prefers-reduced-motion: reduce)").matches;
let isFollowing = true;
let lastTop = scrollY;

if (!isAtOnce) show();

async function show() {
  const items = [...list.children];
  for (const item of items) item.hidden = true;
  acts.hidden = false;
  addEventListener("scroll", checkPlace, { passive: true });
  document.getElementById("example-all").addEventListener("click", () => {
    isAtOnce = true;
    for (const item of items) item.hidden = false;
    acts.hidden = true;
  });
  for (const item of items) {
    if (isAtOnce) return;
    item.hidden = false;
    if (item.matches(".turn")) await write(item);
    else await read(item);
  }
  acts.hidden = true;
  follow(document.querySelector(".example-end"));
}

function read(item) {
  follow(item);
  return wait(400 + READ_MS * Math.min(item.textContent.trim().length, 60));
}

// The whole answer is there for a screen reader at once: only what isn't written yet is invisible.
async function write(turn) {
  const below = [...turn.querySelectorAll(".call, .step-chip, .written")];
  for (const part of below) part.hidden = true;
  for (const line of turn.querySelectorAll(".prose > p")) {
    if (line.closest(".written")) continue;
    const words = line.textContent.split(" ");
    const left = document.createElement("span");
    left.className = "unwritten";
    for (let count = 1; count <= words.length && !isAtOnce; count += 1) {
      left.textContent = words.slice(count).join(" ");
      line.replaceChildren(`${words.slice(0, count).join(" ")} `, left);
      follow(left.textContent ? left : line);
      await wait(WORD_MS);
    }
    line.textContent = words.join(" ");
  }
  for (const part of below) part.hidden = false;
  follow(turn);
  await wait(900);
}

// The page only grows while it plays, and is scrolled only downwards here: a move upwards is the reader's.
function checkPlace() {
  const isUp = scrollY < lastTop;
  lastTop = scrollY;
  if (isUp) isFollowing = false;
  else if (endOf([...list.children].findLast((item) => !item.hidden)) <= innerHeight) isFollowing = true;
}

function follow(element) {
  const over = endOf(element) + GAP_PX - innerHeight;
  if (isFollowing && !isAtOnce && over > 0) scrollBy({ top: over, behavior: "instant" });
}

// Of what isn't written yet, its first line is the one that is being written.
function endOf(element) {
  const box = element.matches(".unwritten") ? element.getClientRects()[0] : element.getBoundingClientRect();
  return box.bottom;
}

function wait(milliseconds) {
  return isAtOnce ? undefined : new Promise((done) => setTimeout(done, milliseconds));
}
