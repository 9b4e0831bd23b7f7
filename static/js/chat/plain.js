// Markdown for reading aloud: text without marks. Escaped characters and underscores inside names stay.
// Each pattern reads a text in linear time: none starts again inside what it has just read in vain.

const TO_DO = /^\s*(?:[-*+]\s+)?\[ \]\s+/;
const DONE = /^\s*(?:[-*+]\s+)?\[[xX]\]\s+/;
const LINES = [
  [/^\s*(?:```|~~~).*$/, ""], // code fences
  [/^(?=.*---)[\s|:-]+$/, ""], // rules, and the line below a table's header
  [/^\s*(?:\*\s*){3,}$/, ""],
  [/^\s*(?:>\s?)+/, ""],
  [/^\s*#{1,6}\s+(.*)$/, (_, words) => words.trimEnd().replace(/(?<!#)#+$/, "").trimEnd()],
  [/^\s*[-*+]\s+/, ""],
  [/^\s*\|(.*)\|\s*$/, (_, cells) => cells.split("|").map((cell) => cell.trim()).filter(Boolean).join(", ")],
];
const INLINE = [
  [/!?\[([^[\]]*)\]\([^[)\s]*(?:\s+"[^"]*")?\)/g, "$1"],
  [/<((?:https?:|mailto:)[^<>\s]+)>/g, "$1"],
  [/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, "$2"],
  [/(\*\*|__|~~)(?=\S)(.{1,500}?)(?<=\S)\1/g, "$2"],
  [/\*(?=\S)([^*]+?)(?<=\S)\*/g, "$1"],
  [/(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)/g, "$1"],
];

const BEGUN = [
  [/^([^\S\n]*)[-*+](?: \[[ xX]?\]?)?(?=[ \t]|$)/gm, "$1•"],
  [/^(?=.*-)[ \t|:-]+$\n?/gm, ""], // rules, and the line below a table's header
  [/!?\[([^[\]\n]*)\](?:\([^)\s]*\)?)?/g, "$1"],
  [/\*\*|__|~~|`+/g, ""],
  [/(^|[\s(“«"])[*_](?=\S|$)/gm, "$1"],
  [/(?<=\S)[*_](?=$|[\s.,;:!?)”»"])/gm, ""],
  [/(?<!\s)\s+$/, ""],
];

// The words of a block that is still being written, without its marks, the unfinished ones too.
export function inlineWords(markdown) {
  return BEGUN.reduce((words, [mark, kept]) => words.replace(mark, kept), markdown);
}

// `names` are what a task is called: `toDo` and `done`.
export function plainWords(markdown, names) {
  const escaped = [];
  const held = markdown.replace(/\\([!-/:-@[-`{-~])/g, (_, mark) => `\u0000${escaped.push(mark) - 1}\u0000`);
  const lines = held.split("\n").map((line) => {
    const named = line.replace(TO_DO, () => `${names.toDo} `).replace(DONE, () => `${names.done} `);
    return LINES.reduce((text, [mark, words]) => text.replace(mark, words), named);
  });
  const words = INLINE.reduce((text, [mark, kept]) => text.replace(mark, kept), lines.filter(Boolean).join("\n"));
  return words.replace(/\u0000(\d+)\u0000/g, (_, index) => escaped[index]);
}
