// The Copy button below an answer: copies its rendered text, with tick boxes as signs.

export async function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = [...button.closest(".turn").querySelectorAll(".prose")].map(wordsOf);
  const label = button.querySelector("span");
  try {
    await navigator.clipboard.writeText(words.join("\n\n"));
    label.textContent = "Copied";
  } catch {
    label.textContent = "Couldn’t copy";
  }
  setTimeout(() => {
    label.textContent = "Copy";
  }, 2000);
}

function wordsOf(prose) {
  const signs = [...prose.querySelectorAll(".task input")].map((box) => {
    const sign = document.createTextNode(box.checked ? "☑ " : "☐ ");
    box.after(sign);
    return sign;
  });
  const words = prose.innerText.trim();
  for (const sign of signs) sign.remove();
  return words;
}
