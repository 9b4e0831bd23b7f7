"""Reads the word lists of `words/`: sections (`[name]`) of lines, editable without Python."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).with_name("words")
_SECTION = re.compile(r"\[([a-z0-9-]+)\]")
_CLASS = re.compile(r"(?<!P)<(\w+)>")


def read_table(name: str) -> Mapping[str, Sequence[str]]:
    """Return the lines of a word list by section."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if section := _SECTION.fullmatch(line):
            lines = sections.setdefault(section[1], [])
        elif line.strip() and not line.startswith("#"):
            lines.append(line)
    return sections


def read_weights(file: Path) -> Mapping[str, int]:
    """Return the weights of a file, in hundredths, by feature."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = (line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    return {feature: int(weight) for weight, feature in rows}


_CLASSES: Mapping[str, str] = {
    name: lines[0] if lines[0].startswith(("(?P<", "(?!")) else f"(?:{'|'.join(lines)})"
    for name, lines in read_table("classes").items()
}


def expanded(line: str) -> str:
    """Convert a table line to a regular expression."""
    while named := _CLASS.search(line):
        line = line.replace(named[0], _CLASSES[named[1]])
    line = line.replace("[...]", r"(?:[\w'-]+ ){0,5}").replace("[..]", r"(?:[\w'-]+ ){0,2}")
    return line.replace(" ... ", r" (?:[\w'-]+ ){1,5}").replace(" .. ", r" (?:[\w'-]+ ){1,2}")


def whole_words(lines: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the lines as whole words."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(expanded, lines))})(?![\w-])")


def needed_in(expression: str) -> frozenset[str]:
    """Return pieces of which every match contains one, empty if unknown; searching for them is fast."""
    needed: set[str] = set()
    for alternative in _split(expression):
        candidates = [pieces for pieces in _required(alternative) if pieces]
        if not candidates:
            return frozenset()
        needed |= max(candidates, key=lambda pieces: (min(map(len, pieces)), -len(pieces)))
    return frozenset(needed)


_PIECE = re.compile(r"\\.|\[[^\]]*\]|\(|\)|.", re.DOTALL)
_QUANTIFIER = re.compile(r"[?*+]|\{(\d+)[^}]*\}")


def _split(expression: str) -> list[str]:
    """Split an expression at its top-level bars."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(expression):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _required(alternative: str) -> Iterator[frozenset[str]]:
    """Yield what an alternative requires: runs of letters, and what its groups need."""
    run = ""
    position = 0
    while position < len(alternative):
        end = _end_of_piece(alternative, position)
        piece = alternative[position:end]
        quantifier = _QUANTIFIER.match(alternative, end)
        is_optional = quantifier is not None and (quantifier[0] in "?*" or quantifier[1] == "0")
        if len(piece) == 1 and (piece.isalnum() or piece in " '-") and quantifier is None:
            run += piece
        else:
            yield frozenset({run}) if len(run.strip()) > 1 else frozenset()
            run = ""
            if piece.startswith("(") and not is_optional and not piece.startswith(("(?!", "(?=", "(?<")):
                yield needed_in(re.sub(r"^\((?:\?:|\?P<\w+>)?", "", piece)[:-1])
        position = quantifier.end() if quantifier else end
    yield frozenset({run}) if len(run.strip()) > 1 else frozenset()


def _end_of_piece(expression: str, start: int) -> int:
    depth = 0
    for piece in _PIECE.finditer(expression, start):
        depth += (piece[0] == "(") - (piece[0] == ")")
        if depth == 0:
            return piece.end()
    raise ValueError(f"unbalanced: {expression}")
