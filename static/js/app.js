// On every page: light and dark, menus, the time zone, keyboard shortcuts, captures, forms that change a part, code and
// formulas, the app, the microphone.

import { setUpCapture } from "./capture.js";
import { setUpCode } from "./code.js";
import { setText, setUpComposer, settleSubmitted } from "./composer.js";
import { setUpFormulas } from "./formulas.js";
import { sendTimezone } from "./timezone.js";
import { setUpApp } from "./installed.js";
import { setUpDialog, setUpKeys, setUpPalette } from "./keys.js";
import { newId, setUpParts, toast, turnOver } from "./parts.js";
import { setUpSessionMenu } from "./session-menu.js";
import { focusSearch, reload, setUpSidebar } from "./sidebar.js";
import { setUpTooLong } from "./too-long.js";

const root = document.documentElement;

function systemTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function switchTheme() {
  const theme = (root.dataset.theme || systemTheme()) === "dark" ? "light" : "dark";
  // The system's own scheme isn't stored: the page then follows the system again.
  if (theme === systemTheme()) delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === systemTheme()) localStorage.removeItem("sage-theme");
    else localStorage.setItem("sage-theme", theme);
  } catch {
    // Storage is off: it holds for this page.
  }
}

function setUpMenu(menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// A new conversation in which nothing was said yet is the one to write in.
function beginConversation() {
  const isNew = document.querySelector(".chat-empty")?.checkVisibility();
  if (isNew) document.getElementById("composer-text").focus();
  else document.getElementById("new-conversation").requestSubmit();
}

function openSearch() {
  const field = document.getElementById("search-q");
  if (field) field.select();
  else if (!focusSearch()) location.assign("/search/");
}

document.getElementById("theme")?.addEventListener("click", switchTheme);
document.querySelectorAll("details.menu").forEach(setUpMenu);
sendTimezone();

settleSubmitted();
document.querySelectorAll("#composer, .quick").forEach(setUpComposer);
setUpTooLong();
setUpParts();
setUpSidebar();
setUpSessionMenu(reload);
setUpApp();
setUpCode(document.getElementById("main"));
setUpFormulas(document.getElementById("main"));

const captureDialog = document.getElementById("capture-dialog");
if (captureDialog) {
  document.querySelectorAll("dialog").forEach(setUpDialog);
  const capture = setUpCapture(captureDialog);
  setUpPalette(document.getElementById("palette"), { new: beginConversation, capture, toast, turnOver });
  setUpKeys(document.getElementById("keys-dialog"), {
    c: capture,
    n: beginConversation,
    "/": openSearch,
  });
}

// Only where a server turns recordings into words. Without the code there is no microphone.
const voice = document.getElementById("voice");
if (voice) import(voice.dataset.script).then(({ setUp }) => setUp(voice, { newId, setText, toast }), () => {});
