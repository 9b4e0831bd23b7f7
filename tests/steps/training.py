"""`python -m tests.steps.training [--write]`: learns the weights of `coaching.library.promise_weights`.

Without `--write` it prints what weights that are learnt from all other authors make of each author's
sentences, which tells how well they know sentences that they never saw. `tests.learning` solves it.
"""

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from coaching.library.promise_weights import MEANINGS, WEIGHTS, Weights
from coaching.library.spoken import tokens_of, widened
from coaching.safety.weighed import ALWAYS
from tests.learning import rounded, solve
from tests.steps.measure import LEARNT, Row, is_promise, read_rows, report, weighable_in

HEADER = "# Weights of the features of a promise (promise_weights.py), in hundredths. `<..>`: by meaning."
OF_RULES, OF_ONE, OF_ANOTHER = "rules", "one writer", "another writer"
OF_A_THIRD, OF_A_FOURTH, OF_A_FIFTH = "a third writer", "a fourth writer", "a fifth writer"
TABLES_OF: Mapping[str, Collection[str]] = {
    OF_RULES: {"held", "promises", "promises_hard", "promises_own"},
    OF_ONE: {*(f"written_{letter}" for letter in "hijklm"), "fresh_third", "fresh_fourth"},
    OF_ANOTHER: {"written_n", "written_o"},
    OF_A_THIRD: {"written_p", "written_q"},
    OF_A_FOURTH: {f"written_{letter}" for letter in "rstuv"},
    OF_A_FIFTH: {"written_w", "written_x"},
}
"""Tables by who wrote them, the author of the rules first; each other table is somebody else's."""
WEIGHT_OF_RULES = 0.5
"""What a sentence teaches by the author of the rules: the rules know them."""
WEIGHT_OF_HARM = 2.0
"""What an error at a plan of harm costs, compared with another sentence that is no promise."""
COST = 0.1
ROUNDS = 25
MIN_SENTENCES = 5
MIN_WEIGHT = 2
"""In hundredths: smaller weights are left out."""

SAMPLED = 40
"""Of so many sentences the features of one belong to the digest: they tell whether the program changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The features of an author's sentence, whether it is a promise, and what an error at it costs."""

    author: str
    features: frozenset[str]
    is_promise: bool
    cost: float = 1.0


def author_of(table: Path) -> str:
    return next((author for author, tables in TABLES_OF.items() if table.stem in tables), table.stem)


def read_examples(table: Path) -> Sequence[Example]:
    """Return the sentences of a table; what stands in quoted lines teaches nothing."""
    author = author_of(table)
    weight = WEIGHT_OF_RULES if author == OF_RULES else 1.0
    rows = read_rows(table)
    bare = [alone for row in rows if is_promise(row) and (alone := without_context(row)) != row]
    return [
        Example(
            author=author,
            features=each.features,
            is_promise=is_promise(row),
            cost=weight * (WEIGHT_OF_HARM if row["kind"] == "harm" else 1.0),
        )
        for row in [*rows, *bare]
        if (each := weighable_in(row)) is not None
    ]


def without_context(row: Row) -> Row:
    """Return a promise without what was said around it: it is one, too."""
    said = row["words"].replace("\\n", "\n")
    found = widened([token.word for token in tokens_of(row["quote"])], said)
    if found is None or isinstance(found, str):
        return row
    return {**row, "words": said[found[0].start : found[-1].end].strip()}


def learn(examples: Sequence[Example], *, rounds: int = ROUNDS) -> Weights:
    """Return weights; errors at all promises together cost as much as at all others."""
    totals = {
        label: sum(each.cost for each in examples if each.is_promise is label) for label in (True, False)
    }
    costs = [COST * len(examples) * each.cost / (2 * totals[each.is_promise]) for each in examples]
    rows = [sorted(each.features) for each in examples]
    signs = [1 if each.is_promise else -1 for each in examples]
    weights = solve(rows, signs, costs, rounds=rounds, min_rows=MIN_SENTENCES)
    return rounded(weights, least=MIN_WEIGHT, always=ALWAYS)


def digest() -> str:
    """Return a digest of what weights are learnt from: tables, words, and the features of a sample."""
    found = sha256()
    for file in (*LEARNT, *(WEIGHTS.with_name(name) for name in (MEANINGS, "promises.txt"))):
        found.update(file.read_bytes())
    for row in [row for table in LEARNT for row in read_rows(table)][::SAMPLED]:
        each = weighable_in(row)
        found.update(" ".join(sorted(each.features if each else ())).encode())
    return found.hexdigest()[:16]


def all_examples() -> Sequence[Example]:
    return [each for table in LEARNT for each in read_examples(table)]


def print_figures() -> None:
    """Print what weights that are learnt from all other authors make of each author's tables."""
    examples: Mapping[Path, Sequence[Example]] = {table: read_examples(table) for table in LEARNT}
    for author in dict.fromkeys(author_of(table) for table in LEARNT):
        others = [each for rows in examples.values() for each in rows if each.author != author]
        weights = learn(others)
        rows = [row for table in LEARNT if author_of(table) == author for row in read_rows(table)]
        print(author, *report(rows, weights), sep="\n", flush=True)  # noqa: T201 - its output


def main() -> None:
    """Print the figures by author, or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m tests.steps.training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    if not parser.parse_args().write:
        print_figures()
        return
    examples = all_examples()
    lines = [f"{weight} {feature}" for feature, weight in sorted(learn(examples).items())]
    header = [HEADER, f"# Learnt from: {digest()}", ""]
    WEIGHTS.write_text("\n".join([*header, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
