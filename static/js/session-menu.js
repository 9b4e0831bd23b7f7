// The menu of a conversation: one element on a page, next to the button that opened it, with what the server sends
// for that conversation. The button and the popover are each other's by `popovertarget`, so the browser opens and
// closes it, and knows where Tab goes.

import { toast } from "./parts.js";

const GAP_PX = 4;
const byId = (id) => document.getElementById(id);

// `onChange`: something was done, here or in another tab, that the sidebar shows, too.
export function setUpSessionMenu(onChange) {
  const menu = byId("session-menu");
  if (!menu) return;
  const tabs = new BroadcastChannel("sage-sessions");
  let button = null;
  let openedAt = 0;
  let loads = 0;
  let hasChanged = false;

  // Before the browser opens it, or closes it again.
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-menu]");
    if (!pressed) return;
    if (menu.matches(":popover-open")) {
      if (pressed === button) return;
      menu.hidePopover(); // It was another row's.
      show(false);
    }
    button = pressed;
    openedAt = topOf(button);
    // Outside of a modal dialog it couldn't be used.
    (button.closest("dialog") ?? document.body).append(menu);
    showWords(menu, menu.dataset.loading);
    load();
  }, { capture: true });
  menu.addEventListener("toggle", ({ newState, target }) => {
    if (target !== menu) return;
    show(newState === "open");
    if (newState === "open" || !hasChanged) return;
    hasChanged = false;
    onChange();
  });
  document.addEventListener("scroll", ({ target }) => {
    // Not where a scroll that came before the click is only reported now, and not while somebody types in it.
    if (!menu.matches(":popover-open") || !target.contains(button) || menu.contains(document.activeElement)) return;
    if (topOf(button) !== openedAt) menu.hidePopover();
  }, { passive: true, capture: true });
  addEventListener("resize", () => menu.matches(":popover-open") && place());
  menu.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (submitter?.name !== "do") return;
    menu.hidePopover();
    // The page of a deleted conversation is gone, so the list follows, where it can be restored.
    if (submitter.value !== "delete" || !isOfThisPage(button)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    form.elements.namedItem("then").value = "";
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "do", value: "delete" }));
    form.submit();
  }, { capture: true });
  // What is typed may be refused, so its form stays until then. The row that is replaced gets the focus first.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const form = detail.requestConfig.elt;
    if (!menu.contains(form) || detail.xhr.status >= 300) return;
    menu.hidePopover();
    tabs.postMessage("changed");
    const title = form.elements.namedItem("title")?.value.trim();
    // An ended conversation has no socket that says so.
    if (!title || !isOfThisPage(button)) return;
    byId("chat-title").textContent = title;
    if (!button.dataset.then) onChange();
  }, { capture: true });
  // The list is fetched anew, and the button may be in it, so not while the menu is open.
  tabs.addEventListener("message", () => {
    hasChanged = menu.matches(":popover-open");
    if (!hasChanged) onChange();
  });
  document.addEventListener("said", ({ detail }) => {
    toast(detail.value);
    if (!button.dataset.then) onChange(); // The sidebar's own form got its answer.
  });

  function show(isOpen) {
    button.classList.toggle("is-open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    menu.classList.toggle("is-placed", isOpen);
    if (isOpen) place();
  }

  async function load() {
    const { menu: address, then } = button.dataset;
    const asked = ++loads;
    let words = "";
    try {
      const response = await fetch(`${address}?then=${then}`, { headers: { "HX-Request": "true" } });
      if (response.redirected) return location.reload(); // Signed out
      if (response.ok) words = await response.text();
    } catch {
      // The connection is lost.
    }
    if (asked !== loads) return;
    if (words) menu.innerHTML = words;
    else showLost();
    htmx.process(menu);
    if (menu.matches(":popover-open")) place();
  }

  function showLost() {
    const again = Object.assign(document.createElement("button"), { type: "button", textContent: menu.dataset.again });
    again.addEventListener("click", load);
    showWords(menu, menu.dataset.lost);
    menu.append(again);
  }

  // Below the button, or above it where there is more room.
  function place() {
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const above = top - 2 * GAP_PX;
    const below = innerHeight - bottom - 2 * GAP_PX;
    const isBelow = menu.scrollHeight <= below || below >= above;
    menu.style.top = isBelow ? `${bottom + GAP_PX}px` : "auto";
    menu.style.bottom = isBelow ? "auto" : `${innerHeight - top + GAP_PX}px`;
    menu.style.maxHeight = `${isBelow ? below : above}px`;
    menu.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - GAP_PX - menu.offsetWidth, right))}px`;
  }
}

function showWords(menu, words) {
  const line = document.createElement("p");
  line.textContent = words;
  menu.replaceChildren(line);
}

function isOfThisPage(button) {
  return button.dataset.menu === `${location.pathname}menu/`;
}

function topOf(element) {
  return Math.round(element.getBoundingClientRect().top);
}
