"""What readers leave out: sentences for the person, each followed by a line of page numbers.

While a text is read, a mark stands where something was left out. XML can't contain these characters.
"""

from collections.abc import Iterable, Iterator, Sequence

from coaching.library.extractors.extracted import gettext_noop

DELETED = gettext_noop("Sage left out words that are marked as deleted, on these pages:")
EMBEDDED = gettext_noop("Sage hasn’t read the files that are embedded on these pages:")
STAMPS = gettext_noop("Sage hasn’t read all stamps and buttons on these pages:")
DELETED_MARK, EMBEDDED_MARK = "\x01", "\x02"
MAX_RANGES = 25
"""Of a line of page numbers."""
MAX_NOTE = 500
"""Of all that is said to be left out of a document."""
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


def joined_notes(notes: Iterable[str]) -> str:
    """Return notes one below the other, in `MAX_NOTE` characters.

    Where there is no room, the longest line of page numbers names fewer of them. If that isn't enough, the
    longest note is left out.
    """
    units = list(_units(notes))
    while sum(len(line) + 1 for unit in units for line in unit if line) > MAX_NOTE + 1:
        pages = max(units, key=lambda unit: len(unit[1]) if _fewer(unit[1]) != unit[1] else 0)
        if _fewer(pages[1]) == pages[1]:
            units.remove(max(units, key=lambda unit: sum(map(len, unit))))
        else:
            units[units.index(pages)] = (pages[0], _fewer(pages[1]))
    return "\n".join(line for unit in units for line in unit if line)


def _units(notes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence; one that ends with a colon with the line that belongs to it."""
    lines = (line for note in notes for line in note.splitlines() if line)
    for line in lines:
        yield line, next(lines, "") if line.endswith(":") else ""


def _fewer(pages: str) -> str:
    """Return a line of page numbers without its last range but one; unchanged if it has only two."""
    ranges = [each for each in pages.split(", ") if each != "…"]
    is_long = pages[:1].isdigit() and len(ranges) > 2
    return ", ".join([*ranges[:-2], "…", ranges[-1]]) if is_long else pages


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
