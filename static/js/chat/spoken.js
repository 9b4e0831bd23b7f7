// What of an answer is read aloud, sentence by sentence: its words, without code, formulas and addresses of links.

import { plainWords } from "./plain.js";

const SILENT = "pre, code, math, svg, .formula, .formula-block, .link-host, button, input, select, textarea, [aria-hidden=true], .visually-hidden";
const BLOCKS = new Set("P LI H1 H2 H3 H4 H5 H6 BLOCKQUOTE TD TH TR UL OL TABLE DIV SECTION DD DT".split(" "));
const FENCE = /^\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+)*(`{3,}|~{3,}|\$\$)/;
const INDENTED = /^(?: {4}|\t)(?!\s*(?:[-*+]|\d{1,9}[.)])\s)/;
const DISPLAYED = /^\s*\\\[/;
const BLOCK_BEGINS = /^(?:[`~|$\\]|\d{0,9}[.)]?$|[-*+>#]+$)/;
const ENDS = /(?<![.!?…])[.!?…]+["'”’»)\]]*\s/g;
const CODE = /`+[^`]*`+/g;
const FORMULA = /\$\$[^$]*\$\$|\\\((?:[^\\]|\\[^()])*\\\)/g;
const MARKS = /\*+|~~|`+|(?<!\w)_+|(?<!_)_+(?!\w)/g;
const NUMBER = /^\s*\d{1,9}[.)]\s+/;
const SAYS = /[^\s!-/:-@[-`{-~–—…“”«»’]/; // a letter, a digit, or a sign of another script
const SAYS_MORE = /[^\s\d!-/:-@[-`{-~–—…“”«»’]/;
const LONG = 4000; // a longer line is read once it is whole: this runs often

// The sentences of blocks that the server has formatted.
export function sentencesIn(element, language) {
  const found = [];
  let words = "";
  const end = () => {
    found.push(...sentencesOf(words, language));
    words = "";
  };
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) words += node.textContent;
    else if (node.nodeName === "BR") words += " ";
    else if (node.nodeType === Node.ELEMENT_NODE && !node.matches(SILENT)) {
      const isBlock = BLOCKS.has(node.nodeName);
      if (isBlock) end();
      node.childNodes.forEach(read);
      if (isBlock) end();
    }
  };
  read(element);
  end();
  return found;
}

function sentencesOf(text, language) {
  const words = text.split(/\s+/).filter((word) => !isAddress(word)).join(" ");
  return split(words, language).filter((sentence) => SAYS.test(sentence));
}

function split(text, language) {
  if (!Intl.Segmenter) return [text.trim()];
  const segments = new Intl.Segmenter(language, { granularity: "sentence" }).segment(text);
  return [...segments].map(({ segment }) => segment.trim());
}

function isAddress(word) {
  return word.includes("://") || /^\W*(?:www\.|mailto:)/i.test(word);
}

// The sentences of markdown that is still being written: each once it is whole.
export class SentenceReader {
  #language;
  #names;
  #rest = ""; // of the line that isn't finished
  #fence = "";
  #isBegun = false; // some of the line has been read

  constructor(language, names) {
    this.#language = language;
    this.#names = names;
  }

  hear(text) {
    this.#rest += text;
    const found = [];
    for (let end = this.#rest.indexOf("\n"); end >= 0; end = this.#rest.indexOf("\n")) {
      found.push(...this.#line(this.#rest.slice(0, end)));
      this.#rest = this.#rest.slice(end + 1);
    }
    return found.concat(this.#begun());
  }

  finish() {
    const found = this.#line(this.#rest);
    this.forget();
    return found;
  }

  forget() {
    this.#rest = this.#fence = "";
    this.#isBegun = false;
  }

  #line(line) {
    const isBegun = this.#isBegun;
    this.#isBegun = false;
    const fence = FENCE.exec(line)?.[1] ?? "";
    if (this.#fence === "\\]") {
      if (line.includes("\\]")) this.#fence = "";
      return [];
    }
    if (!isBegun && !this.#fence && DISPLAYED.test(line)) {
      if (!line.includes("\\]")) this.#fence = "\\]";
      return [];
    }
    if (this.#fence) {
      if (fence.startsWith(this.#fence)) this.#fence = "";
      return [];
    }
    if (!isBegun && fence) {
      // Some formulas end on the line on which they begin.
      if (fence !== "$$" || line.split("$$").length % 2 === 0) this.#fence = fence;
      return [];
    }
    return !isBegun && INDENTED.test(line) ? [] : this.#words(line);
  }

  // What is whole of the line: not within code, a link or a bracket.
  #begun() {
    const isUnclear = !this.#isBegun && (BLOCK_BEGINS.test(this.#rest.trim()) || INDENTED.test(this.#rest));
    if (this.#fence || isUnclear || this.#rest.length > LONG) return [];
    const whole = [...this.#rest.matchAll(ENDS)]
      .map((end) => this.#rest.slice(0, end.index + end[0].length))
      .findLast((text) => isBalanced(text) && SAYS_MORE.test(text));
    if (!whole) return [];
    this.#rest = this.#rest.slice(whole.length);
    this.#isBegun = true;
    return this.#words(whole);
  }

  #words(markdown) {
    const shown = markdown.replace(CODE, " ").replace(FORMULA, " ").replace(NUMBER, "");
    const text = plainWords(shown, this.#names);
    return sentencesOf(text.replace(MARKS, ""), this.#language);
  }
}

function isBalanced(text) {
  const count = (letter) => text.split(letter).length - 1;
  return count("`") % 2 === 0 && count("[") === count("]") && count("(") === count(")") && count("$$") % 2 === 0;
}
