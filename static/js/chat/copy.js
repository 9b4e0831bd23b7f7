// The Copy buttons: of an answer its rendered text, with tick boxes as signs and formulas as TeX; of one's own message
// its words.

import { withSources } from "../formulas.js";
import { toast } from "../parts.js";

export async function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const said = button.closest(".said")?.querySelector(".said-text");
  const parts = said ? [said.textContent] : [...button.closest(".turn").querySelectorAll(".prose")].map(wordsOf);
  const words = document.getElementById("toast").dataset;
  let outcome = words.copied;
  try {
    await navigator.clipboard.writeText(parts.join("\n\n"));
  } catch {
    outcome = words.notCopied;
  }
  if (said) toast(outcome);
  else showIn(button, outcome);
}

function wordsOf(prose) {
  const signs = [...prose.querySelectorAll(".task input")].map((box) => {
    const sign = document.createTextNode(box.checked ? "☑ " : "☐ ");
    box.after(sign);
    return sign;
  });
  const words = withSources(prose, () => prose.innerText.trim());
  for (const sign of signs) sign.remove();
  return words;
}

function showIn(button, outcome) {
  const label = button.querySelector("span");
  button.dataset.label ??= label.textContent;
  label.textContent = outcome;
  setTimeout(() => (label.textContent = button.dataset.label), 2000);
}
