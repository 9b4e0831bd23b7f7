// Evaluated in a page by tabbing.py.
({
  async begin() {
    window.tabbed = { reached: new Set(), faults: [] };
    // A drawer that still slides in isn't in view yet.
    const moving = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < Infinity);
    await Promise.allSettled(moving.map((each) => each.finished));
  },

  // Returns whether everything had its turn.
  step() {
    const node = document.activeElement;
    const { reached, faults } = window.tabbed;
    if (node === document.body) return false;
    if (reached.has(node)) return true;
    reached.add(node);
    const name = node.ariaLabel || node.textContent.trim().slice(0, 40) || node.labels?.[0]?.textContent.trim();
    const label = node.labels?.[0];
    const shown = node.matches(".visually-hidden") && label ? label : node;
    const { left, right, top, bottom } = shown.getClientRects()[0] ?? shown.getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
    const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
    const there = document.elementFromPoint(x, y);
    const isInView = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
    if (!isInView) faults.push(`out of view: ${name}`);
    else if (!there?.closest(":popover-open") && !(shown.contains(there) || there?.contains(shown))) faults.push(`covered: ${name}`);
    const marks = [node, label, node.closest(".composer")].filter(Boolean).map((each) => getComputedStyle(each));
    if (!marks.some((style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1))
      faults.push(`no sign of the focus: ${name}`);
    return false;
  },

  end() {
    const { reached, faults } = window.tabbed;
    const names = new Set([...reached].filter((node) => node.type === "radio").map((node) => node.name));
    const within = document.querySelector("dialog:modal") ?? document.body;
    for (const node of within.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")) {
      const isOther = node.type === "radio" && names.has(node.name);
      // The way back to the newest words comes and goes as the page scrolls.
      if (node.matches(".jump") || node.tabIndex < 0 || node.disabled || node.type === "hidden" || reached.has(node) || isOther) continue;
      if (node.checkVisibility({ visibilityProperty: true })) faults.push(`not reached: ${node.outerHTML.slice(0, 120)}`);
    }
    delete window.tabbed;
    return faults;
  },
})
