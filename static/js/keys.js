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

// The palette opens by ⌘K or Ctrl K, from fields too, and by the button in the header. Only then is its code loaded.
export function setUpPalette(dialog, actions) {
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const field = dialog.querySelector("[role=combobox]");
  let isLoading = false;
  let early = []; // keys that came before the code
  const load = async () => {
    [isLoading, early] = [true, []];
    try {
      const { show } = await import(dialog.dataset.script);
      isLoading = false;
      if (!dialog.open) return;
      show(dialog, actions);
      for (const event of early) field.dispatchEvent(new KeyboardEvent("keydown", event));
    } catch {
      // Without its code, its field still leads to the search, and its pages are links.
      isLoading = false;
      if (dialog.open && early.some(({ key }) => key === "Enter")) field.form.submit();
    }
  };
  field.addEventListener("keydown", (event) => {
    if (!isLoading || event.isComposing || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
    event.preventDefault();
    early.push(event);
  });
  const toggle = () => {
    if (dialog.open) return dialog.close();
    dialog.showModal();
    load();
  };
  document.getElementById("palette-open").addEventListener("click", (event) => {
    // With a modifier key the link opens in a new tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    toggle();
  });
  document.addEventListener("keydown", (event) => {
    // On a Mac, Ctrl K deletes the rest of a line.
    const isHeld = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    if (!isHeld || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k" || event.isComposing) return;
    event.preventDefault();
    if (!event.repeat) toggle();
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
