"""`python -m tests.safety.beside [TABLE…]`: danger beside everyday sentences, and long everyday messages.

Of the dangerous sentences of the sets that are found alone, it prints how many aren't found any more with
everyday sentences around them (`everyday.tsv`), and of plans of harm in `tests/steps` how many are found.

A table has a header line with `language`, `kind` and `words`, where `\\n` is a new line. It prints what is
found of each kind, and what of that everyday sentences hide.
"""

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from coaching.safety.danger import find_danger
from tests.safety.measure import LABELS, read_set
from tests.safety.sets import HELD_OUT, LEARNT, read_rows
from tests.steps.measure import FRESH, TABLES
from tests.steps.measure import read_rows as read_promises

EVERYDAY = Path(__file__).with_name("everyday.tsv")
LANGUAGES = ("en", "de", "es", "fr", "it")
COUNTS = (1, 2, 4, 8)
PLACES = ("before", "after", "on both sides")
LENGTHS = (5, 10, 20)
"""So many sentences the long everyday messages have."""
SAMPLED = 8
"""Of so many sentences one is tried."""
_END = re.compile(r"(?<=[.!?])\s+")
_MARKS = re.compile(r"[.!?,;:\s]+")

Said = tuple[str, str]
"""Language and words."""
Shares = Mapping[str, tuple[int, int]]
"""By name, of how many it holds, and of how many it could."""


@cache
def everyday_texts(language: str) -> Sequence[Sequence[str]]:
    """Return the texts of a language, each as its sentences."""
    return [_END.split(text) for name, text in read_rows(EVERYDAY) if name == language]


def dangerous_sentences(*, of_each: int = SAMPLED) -> Iterator[Said]:
    """Yield each `of_each`th dangerous sentence of the sets."""
    rows = [
        (language, words)
        for folder in (*LEARNT, *HELD_OUT)
        for name, language, words in read_set(folder)
        if LABELS[name] != "none"
    ]
    return iter(rows[::of_each])


def beside(said: Said, *, number: int, place: str, turn: int) -> str:
    """Return a sentence with `number` everyday ones at a place; `turn` chooses the texts."""
    language, words = said
    texts = everyday_texts(language)
    before = texts[turn % len(texts)][:number] if place != "after" else []
    after = texts[(turn + 1) % len(texts)][:number] if place != "before" else []
    return " ".join([*before, words if words.rstrip()[-1:] in ".!?…" else f"{words}.", *after])


def unmarked(words: str) -> str:
    """Return words as somebody types them who uses no capitals and no marks."""
    return _MARKS.sub(" ", words).strip().casefold()


def hidden(rows: Iterable[Said]) -> Shares:
    """Return how many sentences that are found alone aren't any more beside everyday ones."""
    found: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for turn, said in enumerate(rows):
        danger = find_danger(said[1]) if said[0] in LANGUAGES else None
        if danger is None:
            continue
        kind = "weighed" if danger.is_weighed else "named"
        for number in COUNTS:
            for place in PLACES:
                text = beside(said, number=number, place=place, turn=turn)
                for key, each in ((f"{number} {place}", text), ("without marks", unmarked(text))):
                    found[f"{kind}, {key}"] += 1
                    missed[f"{kind}, {key}"] += find_danger(each) is None
    return {key: (missed[key], number) for key, number in sorted(found.items())}


def everyday_messages(sentences: int) -> Iterator[str]:
    """Yield messages of so many sentences, made of ordinary talk and promises that no weight was learnt from,
    each of one author and in one language.
    """
    talk = [[row for name, *row in read_set(folder) if LABELS[name] == "none"] for folder in HELD_OUT]
    talk += [
        [[row["language"], row["words"].replace("\\n", "\n")] for row in read_promises(table)
         if row["may_write"] == "yes"]
        for table in FRESH
    ]  # fmt: skip
    for rows in talk:
        for language in dict.fromkeys(language for language, _ in rows):
            own = [words for name, words in rows if name == language]
            for start in range(0, len(own), 3):
                yield message_of(islice(cycle(own), start, start + sentences), sentences)


def message_of(texts: Iterable[str], sentences: int) -> str:
    """Return the first sentences of the texts as one message."""
    told = [each for text in texts for each in _END.split(text.strip()) if each]
    return " ".join(each if each[-1] in ".!?…" else f"{each}." for each in told[:sentences])


def found_of_kinds(rows: Sequence[Mapping[str, str]]) -> Shares:
    """Return how many sentences of each kind are found."""
    kinds = Counter(row["kind"] for row in rows)
    found = Counter(row["kind"] for row in rows if find_danger(row["words"].replace("\\n", "\n")))
    return {kind: (found[kind], number) for kind, number in kinds.items()}


def read_table(table: Path) -> Sequence[Mapping[str, str]]:
    """Return the rows of a table of somebody else's."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _print(title: str, shares: Shares) -> None:
    lines = [f"\n{title}", *(f"  {key}: {of} of {all_}" for key, (of, all_) in shares.items())]
    sys.stdout.write("\n".join(lines) + "\n")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.safety.beside", description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path)
    tables = parser.parse_args().tables
    for table in tables:
        rows = read_table(table)
        _print(f"{table.name}, found", found_of_kinds(rows))
        _print(f"{table.name}, hidden", hidden((row["language"], row["words"]) for row in rows))
    if tables:
        return
    for table in (*FRESH, *TABLES):
        _print(f"{table.stem}, found", found_of_kinds(read_promises(table)))
    _print("Hidden", hidden(dangerous_sentences()))
    for sentences in LENGTHS:
        messages = list(everyday_messages(sentences))
        alarmed = sum(find_danger(each) is not None for each in messages)
        _print(f"Everyday messages of {sentences} sentences", {"alarmed": (alarmed, len(messages))})


if __name__ == "__main__":
    main()
