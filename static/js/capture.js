// The capture dialog, on every page: opened by a key or by the button in the header.

import { setText, setUpComposer } from "./composer.js";
import { renew } from "./parts.js";

export function setUpCapture(dialog) {
  const form = dialog.querySelector("form");
  const field = form.elements.namedItem("text");
  setUpComposer(form);

  // Words come below what was written and not yet saved.
  const open = (words = "") => {
    if (!form.elements.namedItem("id").value) renew(form);
    if (!dialog.open) dialog.showModal();
    if (words) setText(field, field.value.trim() ? `${field.value.trimEnd()}\n${words}` : words);
    field.focus();
  };

  document.getElementById("capture-open")?.addEventListener("click", (event) => {
    // With a modifier key the link opens in a new tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  form.addEventListener("kept", () => dialog.close());
  return open;
}
