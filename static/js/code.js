// A Copy button on every code block. The server's markup has none: it couldn't do anything without JavaScript.

const SHOWN_MS = 2000;

export function setUpCode(page) {
  const template = document.getElementById("code-copy");
  if (!template) return;
  const addTo = (part) => {
    for (const block of blocksIn(part)) block.append(template.content.cloneNode(true));
  };
  addTo(page);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) addTo(node);
  }).observe(page, { childList: true, subtree: true });
  page.addEventListener("click", (event) => {
    const button = event.target.closest(".code-copy > button");
    if (button) copyCode(button);
  });
}

// The block that is being written has none yet: it is built anew when it is finished.
function blocksIn(part) {
  const blocks = [...part.querySelectorAll(".prose pre")];
  if (part.matches(".prose pre")) blocks.push(part);
  return blocks.filter((block) => !block.querySelector(".live, .code-copy"));
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
