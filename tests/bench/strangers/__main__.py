"""Reads a sample of other projects' test files, and compares the words with what other programs read.

  uv run python -m tests.bench.strangers FOLDER PYTHON [--fresh] [--answers FOLDER] [--without lines]

FOLDER has a clone of each repository that `sample.txt` names, under its owner's and its own name, with the
commit. PYTHON is an interpreter with the libraries of `libraries.py`. poppler-utils, poppler-data, w3m,
faketime and LibreOffice (Writer, Calc and Impress) must be installed. What they read is kept in the folder of
answers. A word counts as often as most of the programs that read a file have it.

`--without` leaves out a part of what Sage read before it is compared, to show that the measure notices it.

`--facts` reads files with text and has a scripted model note facts of them, right and wrong ones, which go
through the product's pipeline. Of each that is stored it checks that its value stands in its quote and its
quote on its page. It needs neither answers nor other programs.
"""

import argparse
import io
import os
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from coaching.library.extractors.left_out import DELETED
from coaching.library.pipeline import extraction
from coaching.library.pipeline.extracted import Extraction
from tests.bench.strangers.clones import FRESH, SAMPLE, Member, members
from tests.bench.strangers.damage import DAMAGES, damaged
from tests.bench.strangers.references import PROGRAMS, Programs, Reference
from tests.bench.strangers.with_database import facts_of_files
from tests.bench.strangers.words import agreed, best_of, found_by, recall, words
from tests.printing import say

ENOUGH = 0.9
COLUMNS = (
    "type", "files", "read", "compared", "median recall", "below .9", "exact words", "by one",
    "by one, exact", "unread", "failed", "longest s",
)  # fmt: skip
_FAILED = (extraction._BROKEN, extraction._TOO_COSTLY)
"""The sentences of a reader that ended without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A file of the sample, read.

    `share` is None without a reference text, and where a person is told that the file isn't read. That it has
    no text is no such sentence if others read some. It counts words however programs cut or join them,
    `exact` only equal ones; `of_first` and `exact_of_first` are the shares by the first program alone.
    """

    member: Member
    found: Extraction
    seconds: float
    share: float | None
    exact: float | None
    of_first: float | None
    exact_of_first: float | None
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
    parser.add_argument("--without", choices=DAMAGES, default="", help="leave out a part of what Sage read")
    parser.add_argument("--facts", type=int, metavar="FILES", help="only store facts of so many files")
    chosen = parser.parse_args()
    if chosen.facts:
        for line in facts_of_files(chosen.clones, chosen.facts):
            say(line)
        return
    programs = Programs(chosen.answers, chosen.python)
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [
        _row(member, chosen.clones, programs, chosen.without)
        for member in members(FRESH if chosen.fresh else SAMPLE)
    ]
    for line in (*_table(rows), *_misses(rows), *_unread(rows), *_pictures(rows), *_attached(rows)):
        say(line)


def _row(member: Member, clones: Path, programs: Programs, without: str) -> Row:
    data = member.data(clones)
    expected = programs.reference(member, data)
    began = time.perf_counter()
    found = extraction.extract_now(io.BytesIO(data), size=len(data), name=member.name)
    seconds = time.perf_counter() - began
    own = "\n\f".join([damaged(found.text, without), *found.hints.values()])
    texts = [_read_pages(pages, found) for pages in (expected.pages, *expected.others)]
    of_first = texts[:: PROGRAMS.get(member.kind, 1)]
    is_compared = found.outcome in ("text", "no_text")
    required = [
        _required(which, expected, found) if is_compared else Counter() for which in (texts, of_first)
    ]
    by_words, *by_readings = found_by(own, [f"{text}\n{expected.values}" for text in texts])
    by_letters, by_letters_of_first = (best_of(each, [by_words, *by_readings]) for each in required)
    return Row(
        member=member,
        found=found,
        seconds=seconds,
        share=recall(required[0], by_letters),
        exact=recall(required[0], by_words),
        of_first=recall(required[1], by_letters_of_first),
        exact_of_first=recall(required[1], by_words),
        expected=expected,
        missing=tuple(word for word, _ in (required[0] - by_letters).most_common(12)),
    )


def _required(texts: Sequence[str], expected: Reference, found: Extraction) -> Counter[str]:
    """Return the words that Sage must have: those of the visible pages that it doesn't say it left out."""
    readings = list(map(words, texts))
    left_out = words(_read_pages(expected.outside, found)) + words(struck(expected, found))
    return ((agreed(readings) or readings[0]) - left_out) | words(expected.values)


def struck(expected: Reference, found: Extraction) -> str:
    """Return the words marked as deleted on those pages of which Sage says that it left such words out."""
    lines = ["", *found.note.splitlines()]
    named = next((line for before, line in pairwise(lines) if before == DELETED), "")
    return "\n".join(text for number, text in enumerate(expected.struck, 1) if is_named(number, named))


def is_named(number: int, ranges: str) -> bool:
    """Return whether a line such as "1–3, 7." names a page."""
    spans = re.findall(r"(\d+)(?:–(\d+))?", ranges)
    return any(int(first) <= number <= int(last or first) for first, last in spans)


def _read_pages(pages: Sequence[str], found: Extraction) -> str:
    """Return the text of those pages that Sage doesn't name as unread. Not all programs tell pages apart."""
    if len(pages) != found.page_count:
        return "\n".join(pages)
    unread = found.picture_pages if found.outcome == "no_text" else ()
    read = set(found.pages_read or range(1, found.page_count + 1)) - set(unread)
    return "\n".join(page for number, page in enumerate(pages, 1) if number in read)


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
            *(_below(of_kind, measure) for measure in ("exact", "of_first", "exact_of_first")),
            sum(row.is_named_unread for row in of_kind),
            sum(row.has_failed for row in of_kind),
            f"{max(row.seconds for row in of_kind):.1f}",
        )
        yield f"| {kind} | {' | '.join(map(str, counts))} |"


def _below(rows: Iterable[Row], measure: str) -> int:
    shares = (getattr(row, measure) for row in rows)
    return sum(share is not None and share < ENOUGH for share in shares)


def _misses(rows: Iterable[Row]) -> Iterator[str]:
    yield "\nBelow .9:"
    for row in rows:
        measured = (row.share, row.exact, row.of_first, row.exact_of_first)
        if any(share is not None and share < ENOUGH for share in measured):
            shares = " ".join(f"{share:.2f}" if share is not None else "–" for share in measured)
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


if __name__ == "__main__":
    main()
