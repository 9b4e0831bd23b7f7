// Which formulas Temml may read. It reads on the page's own thread, with no limit of its work, and a formula may be
// anybody's: a few dozen characters could stop the tab at every load.

const LONGEST = 4000;
const MOST = 1000; // commands
const CELLS = 10_000; // columns times rows: Temml fills each row to the widest
const DEEPEST = 30; // braces and environments within each other
// As Temml reads them, so that it finds nothing in between; `\begin` is one with its name.
const TOKEN = /\\begin\{[a-zA-Z]+\*?\}|\\[a-zA-Z@]+|\\[\s\S]|[{}%&]/g;
const ROW_ENDS = tokens("\\\\ \\cr \\newline");
const REFUSED = tokens(
  // They define a command, which can stand for any number of others.
  "\\global \\long \\def \\edef \\gdef \\xdef \\let \\futurelet \\newcommand \\renewcommand \\providecommand",
  // They have as many columns as a number says.
  "\\begin{alignat} \\begin{alignedat}",
  // They are built of the same argument two or three times: within each other they double the work at each level.
  "\\cancelto \\equilibriumLeft \\equilibriumRight \\llap \\mathllap",
  // With these, Temml finds other commands or names than stand here.
  "\\begin % \\verb \\TextOrMath \\expandafter \\noexpand",
);

function tokens(...lines) {
  return new Set(lines.join(" ").split(" "));
}

export function isModest(tex) {
  if (tex.length > LONGEST) return false;
  let commands = 0;
  let depth = 0;
  let columns = 1;
  let rows = 1;
  for (const [token] of tex.matchAll(TOKEN)) {
    // Commands with an @ are Temml's own: `\tag` defines one, and a formula that calls it calls itself.
    if (token.includes("@") || REFUSED.has(token.replace("*", ""))) return false;
    if (token.startsWith("\\")) commands++;
    if (token === "&") columns++;
    if (ROW_ENDS.has(token)) rows++;
    if (token === "{" || token.startsWith("\\begin{")) depth++;
    else if (token === "}" || token === "\\end") depth--;
    if (commands > MOST || depth > DEEPEST || depth < 0) return false;
  }
  return columns * rows <= CELLS;
}
