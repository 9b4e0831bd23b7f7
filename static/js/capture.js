// The capture dialog, on every page: opened by a key, by the button in the header, and on today’s page of the journal.

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

  for (const link of document.querySelectorAll("#capture-open, [data-capture-open]")) {
    link.addEventListener("click", (event) => {
      // With a modifier key the link opens in a new tab or window.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
  }
  form.addEventListener("kept", () => dialog.close());
  return open;
}
