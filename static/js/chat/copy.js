// The Copy button below an answer: copies its rendered text.

export async function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = [...button.closest(".turn").querySelectorAll(".prose")].map((prose) => prose.innerText.trim());
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
