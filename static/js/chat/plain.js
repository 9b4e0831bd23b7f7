// Markdown for reading aloud: text without marks. Escaped characters and underscores inside names stay.

const LINES = [
  [/^\s*(?:```|~~~).*$/, ""], // code fences
  [/^[\s|:-]*-{3,}[\s|:-]*$/, ""], // rules, and the line below a table's header
  [/^\s*(?:\*\s*){3,}$/, ""],
  [/^\s*(?:>\s?)+/, ""],
  [/^\s*#{1,6}\s+(.*?)\s*#*$/, "$1"],
  [/^\s*(?:[-*+]\s+)?\[ \]\s+/, "To do: "],
  [/^\s*(?:[-*+]\s+)?\[[xX]\]\s+/, "Done: "],
  [/^\s*[-*+]\s+/, ""],
  [/^\s*\|(.*)\|\s*$/, (_, cells) => cells.split("|").map((cell) => cell.trim()).filter(Boolean).join(", ")],
];
const INLINE = [
  [/!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1"],
  [/<((?:https?:|mailto:)[^>\s]+)>/g, "$1"],
  [/(`+)(.+?)\1/g, "$2"],
  [/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2"],
  [/\*(?=\S)([^*]+?)(?<=\S)\*/g, "$1"],
  [/(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)/g, "$1"],
];

const BEGUN = [
  [/^(?:\s*\n)+/, ""],
  [/^ {0,3}#{1,6}[ \t]+/gm, ""],
  [/^(\s*)[-*+](?: \[[ xX]?\]?)?(?=[ \t]|$)/gm, "$1•"],
  [/^ {0,3}>[ \t]?/gm, ""],
  [/^[ \t]*\|?[ \t|:-]*-[ \t|:-]*$\n?/gm, ""], // rules, and the line below a table's header
  [/^[ \t]*\|[ \t]?|[ \t]*\|[ \t]*$/gm, ""],
  [/[ \t]+\|[ \t]+/g, "   "],
  [/!?\[([^\]\n]*)\](?:\([^)\s]*\)?)?/g, "$1"],
  [/\*\*|__|~~|`+/g, ""],
  [/(^|[\s(“"])[*_](?=\S|$)/gm, "$1"],
  [/(?<=\S)[*_](?=$|[\s.,;:!?)”"])/gm, ""],
  [/\s+$/, ""],
];
const FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*(?:\n|$)/;

const MOST_UNMARKED = 4000;

// The block that is being written, without its unfinished marks. A very long one stays as it is: this runs often.
export function unmarked(markdown) {
  const text = markdown.replace(/^\n+/, "");
  if (FENCE.test(text)) return { words: text.replace(FENCE, ""), isCode: true };
  if (text.length > MOST_UNMARKED) return { words: text, isCode: false };
  return { words: BEGUN.reduce((words, [mark, kept]) => words.replace(mark, kept), text), isCode: false };
}

export function plainWords(markdown) {
  const escaped = [];
  const held = markdown.replace(/\\([!-/:-@[-`{-~])/g, (_, mark) => `\u0000${escaped.push(mark) - 1}\u0000`);
  const lines = held.split("\n").map((line) => LINES.reduce((text, [mark, words]) => text.replace(mark, words), line));
  const words = INLINE.reduce((text, [mark, kept]) => text.replace(mark, kept), lines.filter(Boolean).join("\n"));
  return words.replace(/\u0000(\d+)\u0000/g, (_, index) => escaped[index]);
}
