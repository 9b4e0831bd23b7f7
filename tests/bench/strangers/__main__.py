"""Reads a sample of other projects' test files, and compares the words with what other programs read.

  uv run python -m tests.bench.strangers FOLDER PYTHON [--fresh] [--answers FOLDER]

FOLDER has a clone of each repository that `sample.txt` names, under its owner's and its own name, with the
commit. PYTHON is an interpreter with the libraries of `libraries.py`. poppler-utils, poppler-data, w3m,
faketime and LibreOffice (Writer, Calc and Impress) must be installed. What they read is kept in the folder of
answers. A word counts as often as most of the programs that read a file have it.
"""

import argparse
import io
import os
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path

from coaching.library.pipeline import extraction
from coaching.library.pipeline.extracted import Extraction
from tests.bench.strangers.clones import FRESH, SAMPLE, Member, members
from tests.bench.strangers.references import Programs, Reference
from tests.bench.strangers.words import agreed, in_lines, recall, words

ENOUGH = 0.9
COLUMNS = (
    "type", "files", "read", "compared", "median recall", "below .9", "by lines", "by one", "unread",
    "failed", "longest s",
)  # fmt: skip
_FAILED = (extraction._BROKEN, extraction._TOO_COSTLY)
"""The sentences of a reader that ended without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A file of the sample, read.

    `share` is None without a reference text, and where a person is told that the file isn't read. That it has
    no text is no such sentence if others read some. `share_by_lines` also counts the words of lines that
    stand in the text with other spaces. `share_of_first` is that by the first program alone.
    """

    member: Member
    found: Extraction
    seconds: float
    share: float | None
    share_by_lines: float | None
    share_of_first: float | None
    expected: Reference
    missing: tuple[str, ...]

    @property
    def is_named_unread(self) -> bool:
        """Whether the person is told that the file isn't read, and why."""
        return self.found.outcome != "text" and self.share is None

    @property
    def is_missed(self) -> bool:
        return self.share is not None and self.share < ENOUGH

    @property
    def has_failed(self) -> bool:
        return self.found.sentence in _FAILED


def main() -> None:
    """Read the files and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.strangers")
    parser.add_argument("clones", type=Path)
    parser.add_argument("python")
    parser.add_argument("--answers", type=Path, default=Path("answers"))
    parser.add_argument("--fresh", action="store_true", help="read the second sample instead")
    chosen = parser.parse_args()
    programs = Programs(chosen.answers, chosen.python)
    _say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [_row(member, chosen.clones, programs) for member in members(FRESH if chosen.fresh else SAMPLE)]
    for line in (*_table(rows), *_misses(rows), *_unread(rows), *_pictures(rows), *_attached(rows)):
        _say(line)


def _row(member: Member, clones: Path, programs: Programs) -> Row:
    data = member.data(clones)
    expected = programs.reference(member, data)
    began = time.perf_counter()
    found = extraction.extract_now(io.BytesIO(data), size=len(data), name=member.name)
    seconds = time.perf_counter() - began
    readings = [_read_pages(pages, found) for pages in (expected.pages, *expected.others)]
    values = words(expected.values)
    first = words(readings[0])
    reference = (agreed(map(words, readings)) or first) | values
    own_text = "\n".join([found.text, *found.hints.values()])
    own = words(own_text)
    by_lines = reduce(or_, (in_lines(f"{text}\n{expected.values}", own_text) for text in readings), own)
    is_said_empty = found.outcome == "no_text" and not found.picture_pages
    is_compared = (found.outcome == "text" or is_said_empty) and reference.total() > 0
    return Row(
        member=member,
        found=found,
        seconds=seconds,
        share=recall(reference, own) if is_compared else None,
        share_by_lines=recall(reference, by_lines) if is_compared else None,
        share_of_first=recall(first | values, own) if is_compared and first else None,
        expected=expected,
        missing=tuple(word for word, _ in (reference - own).most_common(12)),
    )


def _read_pages(pages: Sequence[str], found: Extraction) -> str:
    """Return the text of those pages that Sage says that it read."""
    if found.pages_read and len(pages) == found.page_count:
        pages = [pages[number - 1] for number in found.pages_read]
    return "\n".join(pages)


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"\n| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind[row.member.kind].append(row)
    for kind, of_kind in [*by_kind.items(), ("all", list(rows))]:
        shares = [row.share for row in of_kind if row.share is not None]
        counts = (
            len(of_kind),
            sum(not row.is_named_unread for row in of_kind),
            len(shares),
            f"{statistics.median(shares):.3f}" if shares else "",
            sum(row.is_missed for row in of_kind),
            sum(row.share_by_lines is not None and row.share_by_lines < ENOUGH for row in of_kind),
            sum(row.share_of_first is not None and row.share_of_first < ENOUGH for row in of_kind),
            sum(row.is_named_unread for row in of_kind),
            sum(row.has_failed for row in of_kind),
            f"{max(row.seconds for row in of_kind):.1f}",
        )
        yield f"| {kind} | {' | '.join(map(str, counts))} |"


def _misses(rows: Iterable[Row]) -> Iterator[str]:
    yield "\nBelow .9:"
    for row in rows:
        if row.is_missed:
            shares = f"{row.share:.2f} {row.share_by_lines:.2f} {row.share_of_first or 0:.2f}"
            yield f"{shares} {_title(row)} pictures {row.found.picture_pages}: {' '.join(row.missing)}"


def _unread(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the files without text, and how many characters other programs read in them."""
    yield "\nNamed as unread, with the characters that other programs read:"
    for row in rows:
        if row.is_named_unread:
            read = sum(map(str.isalnum, "".join((*row.expected.pages, row.expected.values))))
            sentence = row.found.sentence.replace("\n", " ")
            yield f"{row.found.outcome} {_title(row)} {read}: {sentence}"


def _pictures(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what was said of PDFs' pages, if it isn't what poppler says of them."""
    yield "\nPages named as pictures:"
    counts: Counter[str] = Counter()
    for row in rows:
        expected, named = set(row.expected.picture_pages), set(row.found.picture_pages)
        if row.member.kind not in ("pdf", "form", "mixed") or not expected | named:
            continue
        counts["files"] += 1
        counts["pages"] += len(expected)
        counts["named"] += len(expected & named)
        counts["others"] += len(named - expected)
        if expected != named:
            pages = {number: _characters(row, number) for number in sorted(named - expected)}
            yield f"{_title(row)}: not named {sorted(expected - named)}, others with characters {pages}"
    yield f"{dict(counts)}"


def _characters(row: Row, number: int) -> int:
    pages = row.expected.pages
    return sum(map(str.isalnum, pages[number - 1])) if number <= len(pages) else 0


def _attached(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the emails whose attachments have other names."""
    yield "\nAttachments:"
    counts: Counter[str] = Counter()
    for row in rows:
        expected = {" ".join(name.split()) for name in row.expected.attached}
        named = {each.name for each in row.found.attachments}
        counts["mails"] += bool(expected)
        counts["files"] += len(expected)
        counts["taken"] += len(expected & named)
        if expected - named:
            yield f"{_title(row)}: {sorted(expected - named)}, and not {sorted(named - expected)}"
    yield f"{dict(counts)}"


def _title(row: Row) -> str:
    return f"{row.member.kind} {row.member.repository.rpartition('/')[2]} {row.member.name}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
