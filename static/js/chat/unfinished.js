// The block that Sage is writing, shown as the element that it becomes: then nothing moves when the server's formatted
// one takes its place. It has the words of the block, without the marks of markdown.

import { inlineWords } from "./plain.js";

const FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*(?:\n|$)/;
const FENCE_END = /\n {0,3}(?:`+|~+)[ \t]*$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+/;
const ITEM = /^ {0,3}(?:[-*+]|(\d{1,9})[.)])[ \t]+/;
const TASK = /^\[([ xX])\][ \t]/;
const QUOTE = /^ {0,3}>[ \t]?/gm;
const FORMULA = /^ {0,3}(?:\\\[|\$\$)/;
const UNCLEAR = /^ {0,3}(?:[-*+_=#>]+|\d{1,9}[.)]?|`{1,2}|~{1,2}|\||\[[ xX]?\]?)[ \t]*$/;
const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"]; // as on the server
const LONG = 4000; // A longer block keeps its marks, as a formula does: this runs often.

// What the text of an unfinished block is: the kind of its element, and the texts in it.
export function shapeOf(markdown) {
  const text = markdown.replace(/^\s*\n/, "");
  if (FENCE.test(text)) return { kind: "code", texts: [text.replace(FENCE, "").replace(FENCE_END, "").trimEnd()] };
  if (text.length > LONG || FORMULA.test(text)) return { kind: "p", texts: [text] };
  if (UNCLEAR.test(text)) return { kind: "p", texts: [""] };
  const heading = HEADING.exec(text);
  if (heading) return { kind: HEADINGS[heading[1].length - 1], texts: [inlineWords(text.slice(heading[0].length))] };
  const item = ITEM.exec(text);
  if (item) return shapeOfItem(text.slice(item[0].length), item[1]);
  if (/^ {0,3}>/.test(text)) return { kind: "quote", texts: [inlineWords(text.replace(QUOTE, ""))] };
  if (/^ {0,3}\|/.test(text)) return { kind: "row", texts: cellsOf(text.split("\n")[0].trim()) };
  return { kind: "p", texts: [inlineWords(text)] };
}

function shapeOfItem(text, number) {
  const list = number === undefined ? "ul" : "ol";
  const task = TASK.exec(text);
  if (task) return { kind: task[1] === " " ? "task" : "done", list, number, texts: [inlineWords(text.slice(4))] };
  return { kind: "item", list, number, texts: [UNCLEAR.test(text) ? "" : inlineWords(text)] };
}

function cellsOf(line) {
  const cells = line.slice(1).split(/(?<!\\)\|/);
  if (cells.length > 1 && !cells.at(-1).trim()) cells.pop();
  return cells.map((cell) => inlineWords(cell.replaceAll("\\|", "|").trim()));
}

export class Unfinished {
  #blocks;
  #place = ""; // what decides the elements: kind, number of texts, and the block before
  #root = null;
  #texts = [];

  constructor(blocks) {
    this.#blocks = blocks;
  }

  get isShown() {
    return (this.#root?.isConnected && this.#blocks.id === "live-blocks") ?? false;
  }

  remove() {
    this.#root?.remove();
    this.#root = null;
  }

  show(shape) {
    const before = this.#root?.parentNode === this.#blocks ? this.#root.previousElementSibling : this.#blocks.lastElementChild;
    const place = `${shape.kind} ${shape.list} ${shape.texts.length} ${before?.tagName}`;
    if (!this.isShown || place !== this.#place) this.#build(shape, before);
    this.#place = place;
    shape.texts.forEach((words, index) => write(this.#texts[index], words));
  }

  #build(shape, before) {
    this.remove();
    this.#texts = shape.texts.map(() => document.createTextNode(""));
    const [root, place] = elementsFor(shape, before, this.#texts);
    this.#root = root;
    (place ?? this.#blocks).append(root);
  }
}

// Adding costs less layout than a new text.
function write(text, words) {
  if (words === text.data) return;
  if (words.startsWith(text.data)) text.appendData(words.slice(text.data.length));
  else text.data = words;
}

// The new element, and where it goes unless at the end: into the list or the table before it.
function elementsFor({ kind, list, number }, before, texts) {
  if (kind === "code") return [element("pre", {}, element("code", LIVE, ...texts))];
  if (kind === "quote") return [element("blockquote", {}, element("p", LIVE, ...texts))];
  if (kind === "row") return elementsForRow(before, texts);
  if (!list) return [element(kind, LIVE, ...texts)];
  const item = kind === "item" ? element("li", LIVE, ...texts) : taskItem(kind === "done", texts);
  if (before?.tagName === list.toUpperCase()) return [item, before];
  return [element(list, number === undefined ? {} : { start: number }, item)];
}

function taskItem(isDone, texts) {
  const box = element("input", { type: "checkbox", disabled: true, checked: isDone });
  return element("li", { className: "task" }, element("label", LIVE, box, ...texts));
}

function elementsForRow(before, texts) {
  const heads = before?.matches(".table-scroll") ? [...before.querySelectorAll("th")] : [];
  const cells = texts.map((text, index) => {
    return element(heads.length ? "td" : "th", { className: heads[index]?.className ?? "" }, text);
  });
  const row = element("tr", LIVE, ...cells.slice(0, heads.length || cells.length));
  if (heads.length) return [row, before.querySelector("tbody") ?? before.querySelector("table")];
  const table = element("table", {}, element("thead", {}, row));
  return [element("div", { className: "table-scroll" }, table)];
}

const LIVE = { id: "live-text", className: "live" };

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
