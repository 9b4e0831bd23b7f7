// Single-key shortcuts while no field has the focus. They can be switched off, as speech input triggers them.

const STORED = "sage-keys";

export function setUpKeys(dialog, actions) {
  const box = document.getElementById("keys-on");
  box.checked = areOn();
  box.addEventListener("change", () => remember(box.checked));
  const list = () => document.querySelector("dialog[open]") || dialog.showModal();
  document.getElementById("keys-open")?.addEventListener("click", list);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (!areOn() || isWriting(event.target) || document.querySelector("dialog[open]")) return;
    const action = event.key === "?" ? list : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function setUpDialog(dialog) {
  dialog.querySelectorAll("[data-close]").forEach((button) => button.addEventListener("click", () => dialog.close()));
  dialog.addEventListener("click", (event) => {
    // A click on the backdrop has the dialog as its target.
    if (event.target === dialog) dialog.close();
  });
}

function isWriting(element) {
  // A field keeps the focus for a frame after its dialog has closed.
  if (element.closest("dialog:not([open])")) return false;
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}

function areOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

function remember(isOn) {
  try {
    if (isOn) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, "off");
  } catch {
    // Storage is off: it holds for this page.
  }
}
