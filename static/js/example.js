// Shows the example week at a model's pace: one message after another, answers word by word. Without this script, with
// reduced motion, or after “Show it all” everything stands there at once.

const WORD_MS = 45;
const READ_MS = 28; // for each character of what the person writes
const NEAR_END = 160;

const list = document.getElementById("example");
const acts = document.getElementById("example-acts");
let isAtOnce = matchMedia("(prefers-reduced-motion: reduce)").matches;

if (!isAtOnce) show();

async function show() {
  const items = [...list.children];
  for (const item of items) item.hidden = true;
  acts.hidden = false;
  document.getElementById("example-all").addEventListener("click", () => {
    isAtOnce = true;
    for (const item of items) item.hidden = false;
    acts.hidden = true;
  });
  for (const item of items) {
    if (isAtOnce) return;
    const isFollowing = scrollY + innerHeight > document.documentElement.scrollHeight - NEAR_END;
    item.hidden = false;
    if (item.matches(".turn")) await write(item, isFollowing);
    else await wait(400 + READ_MS * Math.min(item.textContent.trim().length, 60));
  }
  acts.hidden = true;
}

// The whole answer is there for a screen reader at once: only what isn't written yet is invisible.
async function write(turn, isFollowing) {
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
      if (isFollowing) turn.scrollIntoView({ block: "nearest" });
      await wait(WORD_MS);
    }
    line.textContent = words.join(" ");
  }
  for (const part of below) part.hidden = false;
  if (isFollowing && !isAtOnce) turn.scrollIntoView({ block: "nearest" });
  await wait(900);
}

function wait(milliseconds) {
  return isAtOnce ? undefined : new Promise((done) => setTimeout(done, milliseconds));
}
