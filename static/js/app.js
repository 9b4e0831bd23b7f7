// What every page does: the switch between light and dark, the account menu, the time zone, the keys, captures,
// forms that change a part of it.

import { equipCapture } from "./capture.js";
import { equipComposer } from "./composer.js";
import { tellTimezone } from "./timezone.js";
import { equipDialog, equipKeys } from "./keys.js";
import { equipParts } from "./parts.js";

const root = document.documentElement;

function systemTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function switchTheme() {
  const theme = (root.dataset.theme || systemTheme()) === "dark" ? "light" : "dark";
  // What the system says anyway needs no memory: the page follows the system again.
  if (theme === systemTheme()) delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === systemTheme()) localStorage.removeItem("sage-theme");
    else localStorage.setItem("sage-theme", theme);
  } catch {
    // It holds for this page.
  }
}

function equipMenu(menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

document.getElementById("theme")?.addEventListener("click", switchTheme);
document.querySelectorAll("details.menu").forEach(equipMenu);
tellTimezone();

document.querySelectorAll("#composer, .quick").forEach(equipComposer);
equipParts();

const captureDialog = document.getElementById("capture-dialog");
if (captureDialog) {
  document.querySelectorAll("dialog").forEach(equipDialog);
  equipKeys(document.getElementById("keys-dialog"), { c: equipCapture(captureDialog) });
}
