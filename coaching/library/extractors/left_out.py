"""What readers leave out: sentences for the person, each followed by a line of page numbers.

While a text is read, a mark stands where something was left out. XML can't contain these characters.
"""

from collections.abc import Iterable, Sequence

from coaching.library.extractors.extracted import gettext_noop

DELETED = gettext_noop("Sage left out words that are marked as deleted, on these pages:")
EMBEDDED = gettext_noop("Sage hasn’t read the files that are embedded on these pages:")
STAMPS = gettext_noop("Sage hasn’t read all stamps and buttons on these pages:")
DELETED_MARK, EMBEDDED_MARK = "\x01", "\x02"
MAX_RANGES = 25
"""A note has room for so many."""
_SENTENCES = {EMBEDDED_MARK: EMBEDDED, DELETED_MARK: DELETED}
MARKS = "".join(_SENTENCES)
_WITHOUT = dict.fromkeys(map(ord, MARKS))


def without_marks(text: str) -> str:
    """Return a text without marks, and without lines that have nothing else."""
    lines = (line for line in text.split("\n") if not line or line.strip(MARKS))
    return "\n".join(lines).translate(_WITHOUT)


def note_of(pages: Sequence[str]) -> str:
    """Return the note about marks in the pages of a document; empty without any."""
    marked = {
        sentence: [number for number, page in enumerate(pages, 1) if mark in page]
        for mark, sentence in _SENTENCES.items()
    }
    return "\n".join(pages_note(sentence, numbers) for sentence, numbers in marked.items() if numbers)


def pages_note(sentence: str, numbers: Sequence[int]) -> str:
    """Return a sentence with the pages that it is about; empty for none."""
    return f"{sentence}\n{page_ranges(numbers)}." if numbers else ""


def page_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers with ranges, such as "1–3, 7"; of very many, the first and how far they go."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    shown = ["–".join(map(str, each)) for each in ranges]
    return ", ".join([*shown[: MAX_RANGES - 1], "…", shown[-1]] if len(shown) > MAX_RANGES else shown)
