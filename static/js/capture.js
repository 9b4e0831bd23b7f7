// The dialog that keeps a thought, on every page: opened by a key or by the button in the header.

import { equipComposer } from "./composer.js";
import { renew } from "./parts.js";

export function equipCapture(dialog) {
  const form = dialog.querySelector("form");
  const field = form.elements.namedItem("text");
  equipComposer(form);

  const open = () => {
    if (dialog.open || document.querySelector("dialog[open]")) return;
    if (!form.elements.namedItem("id").value) renew(form);
    dialog.showModal();
    field.focus();
  };

  document.getElementById("capture-open")?.addEventListener("click", (event) => {
    // A new tab is a new tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  form.addEventListener("kept", () => dialog.close());
  return open;
}
