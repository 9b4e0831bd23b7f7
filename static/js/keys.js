// Single keys, while no field has the focus. Who types by voice or by accident can switch them off.

const STORED = "sage-keys";

export function equipKeys(dialog, actions) {
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

export function equipDialog(dialog) {
  dialog.querySelectorAll("[data-close]").forEach((button) => button.addEventListener("click", () => dialog.close()));
  dialog.addEventListener("click", (event) => {
    // The ground around the sheet belongs to the dialog itself.
    if (event.target === dialog) dialog.close();
  });
}

function isWriting(element) {
  // A field keeps the focus for a frame after its dialog was closed; nobody writes there.
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
    // It holds for this page.
  }
}
