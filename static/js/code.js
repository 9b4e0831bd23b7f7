// A Copy button on every code block. The server's markup has none: it couldn't do anything without JavaScript.

import { forEachIn } from "./added.js";

const SHOWN_MS = 2000;

export function setUpCode(page) {
  const template = document.getElementById("code-copy");
  if (!template) return;
  forEachIn(page, ".prose pre", (block) => {
    // The block that is being written has none yet: it is built anew when it is finished.
    if (!block.querySelector(".live, .code-copy")) block.append(template.content.cloneNode(true));
  });
  page.addEventListener("click", (event) => {
    const button = event.target.closest(".code-copy > button");
    if (button) copyCode(button);
  });
}

async function copyCode(button) {
  const { copied, failed } = button.dataset;
  const status = button.parentElement.querySelector("[role=status]");
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(button.closest("pre").querySelector("code").textContent);
  } catch {
    isCopied = false;
  }
  status.textContent = isCopied ? copied : failed;
  button.classList.toggle("is-done", isCopied);
  setTimeout(() => {
    status.textContent = "";
    button.classList.remove("is-done");
  }, SHOWN_MS);
}
