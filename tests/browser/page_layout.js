// Evaluated in a page by page_layout.py.
({
  lengthen() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    window.shortTexts = new Map();
    for (let node; (node = walker.nextNode()); ) {
      if (node.parentElement.closest("script, style, textarea, noscript")) continue;
      window.shortTexts.set(node, node.data);
      node.data = node.data.replace(/\p{L}{2,}/gu, (word) => word + word.slice(0, Math.ceil(word.length * 0.35)));
    }
  },

  shorten() {
    for (const [node, text] of window.shortTexts) node.data = text;
    delete window.shortTexts;
  },

  async faults(mostCharacters) {
    await new Promise(requestAnimationFrame);
    const found = [];
    const named = (node) => `<${node.localName} class="${node.getAttribute("class") ?? ""}"> ` +
      `“${node.textContent.trim().replace(/\s+/g, " ").slice(0, 60)}”`;
    const styles = new Map();
    const styleOf = (node) => styles.get(node) ?? styles.set(node, getComputedStyle(node)).get(node);
    const root = document.documentElement;
    const isSideways = root.scrollWidth > innerWidth;
    if (isSideways) found.push(`${root.scrollWidth} px wide`);

    // Each text with its lines, unless it is hidden, also under what is open on top of the page.
    const texts = [];
    const modal = document.querySelector("dialog:modal");
    const walker = document.createTreeWalker(modal ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const parent = node.parentElement;
      if (!node.data.trim() || parent.closest("script, style, textarea, option, template, noscript")) continue;
      if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
      let layer = document.body, isHidden = false, scroller = null;
      for (let above = parent; above && above !== root; above = above.parentElement) {
        const style = styleOf(above);
        if (style.clipPath !== "none" || above.matches(".skip-link")) isHidden = true;
        const isScroller = /auto|scroll/.test(style.overflowX + style.overflowY) && above !== document.body;
        const isCut = !isScroller && /hidden|clip/.test(style.overflowX + style.overflowY);
        const box = above.getBoundingClientRect();
        const isMeant = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
        if (isCut && !isMeant && !isHidden && !scroller) {
          const isOut = ({ left, right, top, bottom }) =>
            left < box.left - 1 || right > box.right + 1 || top < box.top - 8 || bottom > box.bottom + 8;
          if (lines.some(isOut)) found.push(`cut off: ${named(parent)}`);
        }
        const hasBorder = parseFloat(style.borderInlineEndWidth) > 0 && style.borderInlineEndStyle !== "none";
        if (hasBorder && !isCut && !isHidden && !scroller && lines.some((line) =>
          line.right > box.right + 1 || line.left < box.left - 1)) found.push(`out of its box: ${named(parent)}`);
        scroller ??= isScroller || isCut ? above : null;
        if (/fixed|sticky|absolute/.test(style.position) && layer === document.body) layer = above;
      }
      if (isHidden) continue;
      if (!scroller && lines.some(({ left, right }) => left < -1 || right > innerWidth + 1))
        found.push(`out of the page: ${named(parent)}`);
      if (scroller) layer = scroller;
      texts.push(...lines.map((line) => ({ line, layer, parent, node })));
    }
    texts.sort((one, other) => one.line.top - other.line.top);
    texts.forEach((one, index) => {
      for (const other of texts.slice(index + 1)) {
        if (other.line.top > one.line.bottom) break;
        if (other.node === one.node || other.layer !== one.layer) continue;
        const height = Math.min(one.line.bottom, other.line.bottom) - other.line.top;
        const width = Math.min(one.line.right, other.line.right) - Math.max(one.line.left, other.line.left);
        if (width > 2 && height > 0.45 * Math.min(one.line.height, other.line.height))
          found.push(`over each other: ${named(one.parent)} and ${named(other.parent)}`);
      }
    });

    // What can be pressed in the header, icons too.
    const pressed = [...document.querySelectorAll(".site-head :is(a, button, summary)")]
      .filter((node) => node.checkVisibility() && !node.closest(".menu-sheet"))
      .map((node) => ({ name: node.ariaLabel ?? node.textContent.trim(), box: node.getBoundingClientRect() }));
    pressed.forEach(({ name, box }, index) => {
      for (const { name: other, box: { left, right } } of pressed.slice(index + 1))
        if (Math.min(box.right, right) - Math.max(box.left, left) > 1) found.push(`in the header ${name} is over ${other}`);
    });

    // How many characters the widest line of a text has.
    for (const block of (modal ?? document.body).querySelectorAll("p, li, dd, dt, label, legend, figcaption, summary, h1, h2, h3")) {
      if (block.querySelector("p, li, dd, table, pre, select, input, button")) continue;
      if (!block.checkVisibility() || styleOf(block).display === "flex" || block.closest("pre, table, .visually-hidden")) continue;
      const range = document.createRange();
      range.selectNodeContents(block);
      const rows = new Map();
      for (const { left, right, bottom } of range.getClientRects()) {
        const row = [...rows.keys()].find((key) => Math.abs(key - bottom) < 8) ?? bottom;
        const [from, to] = rows.get(row) ?? [left, right];
        rows.set(row, [Math.min(from, left), Math.max(to, right)]);
      }
      const widths = [...rows.values()].map(([from, to]) => to - from);
      const hidden = [...block.querySelectorAll(".visually-hidden")];
      const count = hidden.reduce((sum, { textContent }) => sum - textContent.length, block.innerText.trim().length);
      const most = (count * Math.max(...widths)) / widths.reduce((sum, width) => sum + width, 0);
      if (count > mostCharacters && most > mostCharacters)
        found.push(`${Math.round(most)} characters in a line: ${named(block)}`);
    }

    // Targets of less than 24 px, unless a line of text decides how high they are (WCAG 2.5.8).
    const targets = "a[href], button, summary, select, textarea, input:not([type=hidden])";
    for (const node of (modal ?? document.body).querySelectorAll(targets)) {
      const boxes = [node, ...(node.labels ?? [])]
        .filter((part) => part.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .filter((part) => !hasAbove(part, (above) => styleOf(above).clipPath !== "none" || above.matches(".skip-link")))
        .map((part) => part.getBoundingClientRect());
      if (!boxes.length || isInText(node)) continue;
      const [width, height] = ["width", "height"].map((side) => Math.max(...boxes.map((box) => box[side])));
      if (Math.min(width, height) < 23.9)
        found.push(`a target of ${width.toFixed(1)} × ${height.toFixed(1)} px: ${named(node)} ${node.ariaLabel ?? ""}`);
    }
    return [...new Set(found)];

    function hasAbove(node, isIt) {
      for (let above = node; above && above !== root; above = above.parentElement) if (isIt(above)) return true;
      return false;
    }

    // Whether other words stand beside a link in its line.
    function isInText(node) {
      if (!styleOf(node).display.startsWith("inline")) return false;
      let block = node.parentElement;
      while (styleOf(block).display.startsWith("inline")) block = block.parentElement;
      if (/flex|grid/.test(styleOf(block).display)) return false;
      const words = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
      for (let text; (text = words.nextNode()); )
        if (/[\p{L}\p{N}]/u.test(text.data) && !text.parentElement.closest(`${targets}, label, .visually-hidden`)) return true;
      return false;
    }
  },

  // Where the header, the title and the content of a page begin, and how wide the content may be.
  edges() {
    const left = (selector) => document.querySelector(selector)?.getBoundingClientRect().left;
    const main = document.querySelector("main");
    const style = getComputedStyle(main);
    const box = main.getBoundingClientRect();
    const from = box.left + parseFloat(style.paddingInlineStart);
    const isShown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 1;
    const beginnings = [...main.querySelectorAll(":is(h1, h2, h3, p, li, form, table, figure, dl, details, .card)")]
      .filter((node) => isShown(node) && !node.closest("dialog, .visually-hidden, .skip-link, [popover]"))
      .map((node) => node.getBoundingClientRect().left);
    const sidebar = document.querySelector("body > .sidebar");
    const hasSidebar = Boolean(sidebar) && isShown(sidebar);
    const title = [...main.querySelectorAll("h1")].find(isShown);
    return {
      header: left(".site-head .wordmark"),
      beside: hasSidebar ? left("body > .sidebar") : from,
      content: from,
      first: Math.min(...beginnings),
      title: title ? (title.closest(".card, .empty") ?? title).getBoundingClientRect().left : from,
      width: box.width - parseFloat(style.paddingInlineStart) - parseFloat(style.paddingInlineEnd),
      foot: left(".site-foot p") ?? left(".site-head .wordmark"),
    };
  },
})
