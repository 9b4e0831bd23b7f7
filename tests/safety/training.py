"""`python -m tests.safety.training [--write]`: learns the weights of `coaching.safety.weighed`.

Without `--write` it prints what weights that are learnt from all other authors make of each author's
sentences, which tells how well they know sentences that they never saw. `tests.learning` solves it.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from coaching.safety.phrases import Level
from coaching.safety.readable import plain_letters
from coaching.safety.tables import FOLDER
from coaching.safety.weighed import ALWAYS, DANGER, GRIEF, PLAN, Part, Tables, Weighable, Weights
from tests.learning import rounded, solve
from tests.safety.measure import LABELS, read_sentences, read_set
from tests.safety.sets import LEARNT, read_ordinary_plans, read_ordinary_promises, read_plans

DANGEROUS = {
    GRIEF: {"grief-danger.tsv"},
    DANGER: {
        *("immediate-en.tsv", "immediate-other.tsv", "concern-en.tsv", "concern-other.tsv"),
        "grief-danger.tsv",
    },
}
"""The files whose sentences are danger, by table. Plain grief and ordinary talk are none."""
WEIGHT_OF_ORDINARY = {GRIEF: 0.25, DANGER: 1.0}
"""How much a sentence of ordinary talk teaches, compared with plain grief. If it taught the table of grief as
much, whatever is said of a death would weigh for danger.
"""
HEADER = "# Weights of the features of {table} (weighed.py), in hundredths. `<..>`: by meaning."
FILE_OF = {"immediate": "immediate-en.tsv", "concern": "concern-en.tsv", "none": "ordinary.tsv"}
"""The file of a set that a label belongs to."""
COST = 0.3
ROUNDS = 40
MIN_SENTENCES = 2
MIN_WEIGHT = 3
"""In hundredths: smaller weights are left out."""
WEIGHT_OF_HARM = 3.0
"""How much a plan of harm teaches the table of plans, which it resembles."""
TOGETHER = (2, 4)
"""So many messages of everyday talk are also learnt from as one, so that what long messages say in passing
doesn't add up to danger.
"""
HEAVY = 100
"""A part of a harmless message that weighs more by weights of a first round is learnt from by itself, too."""
MIN_SENTENCES_OF_PLANS, MIN_WEIGHT_OF_PLANS = 3, 5
"""The same for the table of plans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A labelled sentence of an author, with its file and its plain letters."""

    author: str
    file: str
    letters: str
    is_danger: bool
    weight: float = 1.0
    window: Sequence[Part] = ()
    """The part of it that is learnt from, if not the whole."""

    @property
    def features(self) -> frozenset[str]:
        """Its features."""
        parts = self.window or Weighable.of(self.letters).sentences
        return frozenset[str]().union(*(part.features for part in parts)) | {ALWAYS}


def read_examples(table: str) -> Sequence[Example]:
    """Return the sentences that a table is learnt from: none of the held-out sets."""
    rows = [(folder.name, file, words) for folder in LEARNT for file, _, words in read_set(folder)]
    rows += [("steps", "ordinary.tsv", words) for words in read_ordinary_promises()]
    rows += [("sentences", FILE_OF[each.expected], each.words) for each in read_sentences()]
    if table == DANGER:
        rows += [("steps", "immediate-en.tsv", words) for words, is_harm in read_plans() if is_harm]
        rows += [("steps", "ordinary.tsv", words) for words in read_ordinary_plans()]
    examples = [
        Example(
            author=author,
            file=file,
            letters=plain_letters(words),
            is_danger=file in DANGEROUS[table],
            weight=1.0 if file in (*DANGEROUS[table], "grief.tsv") else WEIGHT_OF_ORDINARY[table],
        )
        for author, file, words in dict.fromkeys(rows)
        if file in DANGEROUS[table] or LABELS[file] == "none"
    ]
    return [*examples, *(_together(examples) if table == DANGER else ())]


def _together(examples: Sequence[Example]) -> Iterator[Example]:
    """Yield messages of everyday talk by one author in one language as one."""
    talk: dict[tuple[str, str], list[Example]] = {}
    for each in examples:
        if each.file == "ordinary.tsv":
            talk.setdefault((each.author, Weighable.of(each.letters).language), []).append(each)
    for number in TOGETHER:
        for said in talk.values():
            for start in range(0, len(said), number):
                letters = ".\n".join(each.letters for each in said[start : start + number])
                yield replace(said[start], letters=letters)


def read_plan_examples() -> Sequence[Example]:
    """Return the sentences that the table of plans is learnt from: danger, and plans of any kind."""
    plans = [
        Example(
            author="steps",
            file="immediate-en.tsv" if is_harm else "ordinary.tsv",
            letters=plain_letters(words),
            is_danger=is_harm,
            weight=WEIGHT_OF_HARM if is_harm else 1.0,
        )
        for words, is_harm in dict.fromkeys(read_plans())
    ]
    known = (each for each in read_examples(DANGER) if each.is_danger and each.author != "steps")
    return [*known, *plans]


def learn(
    examples: Sequence[Example],
    *,
    rounds: int = ROUNDS,
    least: int = MIN_WEIGHT,
    min_sentences: int = MIN_SENTENCES,
) -> Mapping[str, int]:
    """Return the weights of the features, in hundredths."""
    rows = [sorted(each.features) for each in examples]
    signs = [1 if each.is_danger else -1 for each in examples]
    weights = solve(rows, signs, _costs_of(examples), rounds=rounds, min_rows=min_sentences)
    return rounded(weights, least=least, always=ALWAYS)


def learn_table(table: str, examples: Sequence[Example]) -> Mapping[str, int]:
    """Return the weights of one of the three tables."""
    if table == PLAN:
        return learn(examples, least=MIN_WEIGHT_OF_PLANS, min_sentences=MIN_SENTENCES_OF_PLANS)
    weights = learn(examples)
    return learn([*examples, *_heavy(examples, weights)]) if table == DANGER else weights


def _heavy(examples: Sequence[Example], weights: Weights) -> Iterator[Example]:
    """Yield the heaviest window of each harmless message that has a heavy one."""
    for each in examples:
        windows = () if each.is_danger else Weighable.of(each.letters).windows(weights)
        weight, window = max(windows, key=lambda found: found[0], default=(0, ()))
        if weight > HEAVY:
            yield replace(each, window=window)


def examples_of(table: str) -> Sequence[Example]:
    """Return what one of the three tables is learnt from."""
    return read_plan_examples() if table == PLAN else read_examples(table)


def _costs_of(examples: Sequence[Example]) -> Sequence[float]:
    """Return what an error at each example costs: at all dangerous ones together as much as at all others."""
    totals = {
        is_danger: sum(each.weight for each in examples if each.is_danger is is_danger)
        for is_danger in (True, False)
    }
    return [COST * len(examples) * each.weight / (2 * totals[each.is_danger]) for each in examples]


def table_by_author() -> str:
    """Return what weights that are learnt from all other authors make of each author's sentences."""
    examples = {table: read_examples(table) for table in DANGEROUS}
    lines = ["| author | file | sentences | by weight | immediate |", "|---|---|---|---|---|"]
    for author in dict.fromkeys(each.author for rows in examples.values() for each in rows):
        tables = tables_without(author, examples)
        own = {each.letters: each for rows in examples.values() for each in rows if each.author == author}
        for file in dict.fromkeys(each.file for each in own.values()):
            found = [levels_of(each, tables) for each in own.values() if each.file == file]
            acute = sum("immediate" in each for each in found)
            lines.append(f"| {author} | {file} | {len(found)} | {sum(map(any, found))} | {acute} |")
    return "\n".join(lines)


def tables_without(author: str, examples: Mapping[str, Sequence[Example]], *, rounds: int = ROUNDS) -> Tables:
    """Return the tables that are learnt from all authors but one."""
    return {
        table: learn([each for each in rows if each.author != author], rounds=rounds)
        for table, rows in examples.items()
    }


def levels_of(example: Example, tables: Tables) -> Sequence[Level | None]:
    """Return how acute an example is by each table."""
    text = Weighable.of(example.letters)
    return [text.level(table, tables) for table in DANGEROUS]


def text_of(table: str) -> str:
    """Return the file of a table."""
    examples = examples_of(table)
    weights = learn_table(table, examples)
    lines = [f"{weight} {feature}" for feature, weight in sorted(weights.items())]
    return "\n".join([HEADER.format(table=table), f"# Learnt from: {digest_of(examples)}", "", *lines, ""])


def file_of(table: str) -> Path:
    """Return the file of a table."""
    return FOLDER / f"{table}-weights.txt"


def digest_of(examples: Sequence[Example]) -> str:
    """Return a digest of what weights are learnt from."""
    digest = sha256()
    for example in examples:
        digest.update(
            f"{example.is_danger}\t{example.weight}\t{' '.join(sorted(example.features))}\n".encode()
        )
    return digest.hexdigest()[:16]


def main() -> None:
    """Print the figures by author, or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m tests.safety.training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    is_written = parser.parse_args().write
    if not is_written:
        print(table_by_author())  # noqa: T201 - its output
        return
    for table in (*DANGEROUS, PLAN):
        file_of(table).write_text(text_of(table), encoding="utf-8")


if __name__ == "__main__":
    main()
