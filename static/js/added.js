// Runs an action on each element of a kind that a part of the page has, and on those that come into it later.

export function forEachIn(page, selector, action) {
  const take = (part) => {
    if (part.matches(selector)) action(part);
    part.querySelectorAll(selector).forEach(action);
  };
  take(page);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) take(node);
  }).observe(page, { childList: true, subtree: true });
}
