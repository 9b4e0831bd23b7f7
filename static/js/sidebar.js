// The conversations next to the open one: a column on wide screens, a modal dialog on narrow ones. Its list is loaded
// when it is first seen; a closed column stays closed on the next page.

const STORED = "sage-sidebar";
const GAP_PX = 4;

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
  setUpMenu(byId("sidebar-menu"), byId("sidebar-rename"));
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

function setUpMenu(menu, template) {
  const form = menu.querySelector("form");
  let row = null;
  let openedAt = 0;

  byId("sidebar-list").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-menu]");
    if (!button) return;
    row = button.closest(".sidebar-row");
    const address = row.querySelector("a").pathname;
    const isPinned = row.matches("[data-pinned]");
    form.elements.namedItem("do").forEach((each) => {
      if (each.value.endsWith("pin")) each.hidden = each.value === (isPinned ? "pin" : "unpin");
    });
    send(form, `${address}organise/`, `#${row.id}`);
    menu.showPopover({ source: button });
    openedAt = topOf(row);
    putNextTo(menu, button);
    menu.querySelector("button:not([hidden])").focus();
  });
  menu.addEventListener("toggle", ({ newState }) => {
    row?.querySelector("[data-menu]")?.classList.toggle("is-open", newState === "open");
  });
  byId("sidebar-list").parentElement.addEventListener("scroll", () => {
    // Not where a scroll that came before the click is only reported now.
    if (row && menu.matches(":popover-open") && topOf(row) !== openedAt) menu.hidePopover();
  }, { passive: true });
  form.addEventListener("submit", (event) => {
    menu.hidePopover();
    // The page of a deleted conversation is gone, so the list follows, where it can be restored.
    if (event.submitter.value !== "delete" || !row.querySelector("[aria-current]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "do", value: "delete" });
    form.append(field);
    form.elements.namedItem("then").value = "";
    form.submit();
  }, { capture: true });
  menu.querySelector("[data-rename]").addEventListener("click", () => {
    menu.hidePopover();
    rename(row, template);
  });
}

// Its answer replaces the target, as `parts.js` has it.
function send(form, action, target = "") {
  form.action = action;
  form.setAttribute("hx-post", action);
  if (target) form.setAttribute("hx-target", target);
  htmx.process(form);
}

function topOf(element) {
  return Math.round(element.getBoundingClientRect().top);
}

function putNextTo(menu, button) {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = bottom + GAP_PX;
  menu.style.top = `${below + height > innerHeight ? Math.max(GAP_PX, top - GAP_PX - height) : below}px`;
  menu.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - GAP_PX - width, right))}px`;
}

function rename(row, template) {
  const before = [...row.childNodes];
  const link = row.querySelector("a");
  row.replaceChildren(template.content.cloneNode(true));
  const form = row.querySelector("form");
  const field = form.elements.namedItem("title");
  field.value = link.textContent.trim();
  send(form, `${link.pathname}title/`);
  field.select();
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    // In the dialog it would close that, too.
    event.preventDefault();
    event.stopPropagation();
    row.replaceChildren(...before);
    link.focus();
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    // An ended conversation has no socket that says so.
    if (detail.successful && link.hasAttribute("aria-current")) byId("chat-title").textContent = field.value.trim();
  });
}
