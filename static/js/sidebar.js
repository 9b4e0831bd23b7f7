// The conversations next to the open one: a column on wide screens, a modal dialog on narrow ones. Its list is loaded
// when it is first seen; a closed column stays closed on the next page.

const STORED = "sage-sidebar";

const wide = matchMedia("(width >= 64rem)");
const root = document.documentElement;
const byId = (id) => document.getElementById(id);

let isLoaded = false;

export function setUpSidebar() {
  const toggle = byId("sidebar-toggle");
  if (!toggle) return;
  const drawer = byId("drawer");
  toggle.addEventListener("click", () => (wide.matches ? switchColumn() : openDrawer(drawer)));
  wide.addEventListener("change", place);
  drawer.addEventListener("close", showState);
  byId("sidebar-panel").querySelector("[data-close]").addEventListener("click", () => drawer.close());
  setUpList(byId("sidebar-list"));
  document.addEventListener("DOMContentLoaded", place); // htmx is ready then, too.
}

export function focusSearch() {
  const field = byId("sidebar-q");
  if (!field?.checkVisibility()) return false;
  field.select();
  return true;
}

// A conversation has got a title by itself.
export function showTitle(sessionId, title) {
  const row = byId(`sidebar-${sessionId}`);
  const link = row?.querySelector("a");
  if (!link || link.textContent === title) return;
  const button = row.querySelector("[data-menu]");
  button.ariaLabel = button.ariaLabel.replace(link.textContent, () => title);
  link.textContent = title;
}

// Something was said in a conversation: it belongs on top of those that aren't pinned.
export function moveUp(sessionId) {
  const first = byId("sidebar-list")?.querySelector(".sidebar-row:not([data-pinned])");
  if (isLoaded && first?.id !== `sidebar-${sessionId}` && !byId(`sidebar-${sessionId}`)?.matches("[data-pinned]")) load();
}

// A conversation goes on without a message, by a tap: from the first one it belongs into the list.
export function moveIn(sessionId) {
  if (isLoaded && !byId(`sidebar-${sessionId}`)) load();
}

function switchColumn() {
  const isClosed = root.dataset.sidebar !== "closed";
  if (isClosed) root.dataset.sidebar = "closed";
  else delete root.dataset.sidebar;
  try {
    if (isClosed) localStorage.setItem(STORED, "closed");
    else localStorage.removeItem(STORED);
  } catch {
    // Storage is off: it holds for this page.
  }
  showState();
}

function openDrawer(drawer) {
  drawer.showModal();
  showState();
}

function place() {
  const drawer = byId("drawer");
  const panel = byId("sidebar-panel");
  if (wide.matches) drawer.close();
  (wide.matches ? byId("sidebar") : drawer).append(panel);
  showState();
}

function showState() {
  const isOpen = wide.matches ? root.dataset.sidebar !== "closed" : byId("drawer").open;
  const toggle = byId("sidebar-toggle");
  toggle.setAttribute("aria-expanded", String(isOpen));
  toggle.setAttribute("aria-controls", wide.matches ? "sidebar" : "drawer");
  if (isOpen && !isLoaded) load();
}

// A conversation or a folder has changed.
export function reload() {
  if (isLoaded) load();
}

function load() {
  isLoaded = true;
  htmx.trigger(byId("sidebar-list"), "refresh");
}

function setUpList(list) {
  // Rows come by more than one way: pages of the list, answers to a form, the list again.
  new MutationObserver(() => {
    for (const link of list.querySelectorAll(".sidebar-row > a")) {
      if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    }
  }).observe(list, { childList: true });
  list.addEventListener("htmx:afterRequest", ({ detail, target }) => {
    if (target !== list || detail.successful) return;
    const line = document.createElement("li");
    line.className = "sidebar-empty";
    const button = document.createElement("button");
    button.className = "quiet-button";
    button.type = "button";
    button.textContent = list.dataset.again;
    button.addEventListener("click", load);
    line.append(`${list.dataset.lost} `, button);
    list.replaceChildren(line);
  });
}
