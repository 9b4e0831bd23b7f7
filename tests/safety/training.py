"""`python -m tests.safety.training [--write]`: learns the weights of `words/grief-weights.txt`.

Without `--write` it prints what weights that are learnt from all other authors make of each author's
sentences, which tells how well they know sentences that they never saw. It is a logistic regression, solved
by coordinate descent in its dual (Yu, Huang, Lin: Dual coordinate descent methods for logistic regression,
2011), in a fixed order: the same sentences give the same weights.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log
from random import Random

from coaching.safety.grief_danger import ALWAYS, weigh
from coaching.safety.meanings import features_of, language_of, meanings_in, sentences_of
from coaching.safety.readable import plain_letters
from coaching.safety.tables import FOLDER
from tests.safety.measure import LABELS, read_sentences, read_set
from tests.safety.sets import DEV, DEV_2, DEV_3, GRIEF_1, GRIEF_2, WRITTEN

FILE = FOLDER / "grief-weights.txt"
HEADER = "# Weights of the features of danger in grief (grief_danger.py), in hundredths. `<..>`: by meaning."
COST = 0.3
ROUNDS = 40
MIN_SENTENCES = 2
MIN_WEIGHT = 3
"""In hundredths: smaller weights are left out."""
_BISECTIONS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A labelled sentence of an author, with its file and its plain letters."""

    author: str
    file: str
    letters: str

    @property
    def is_danger(self) -> bool:
        """Whether it is danger in grief; plain grief and ordinary talk aren't."""
        return self.file == "grief-danger.tsv"

    @property
    def features(self) -> frozenset[str]:
        """Its features."""
        sentences = list(sentences_of(self.letters))
        language = language_of(sentences)
        found = (features_of(words, meanings_in(words, language)) for words in sentences)
        return frozenset().union(*found) | {ALWAYS}


def read_examples() -> Sequence[Example]:
    """Return the sentences that weights are learnt from: all but those of the held-out sets."""
    rows = [
        (folder.name, file, words)
        for folder in (DEV, DEV_2, DEV_3, GRIEF_1, GRIEF_2, WRITTEN)
        for file, _, words in read_set(folder)
    ]
    rows += [
        ("sentences", "ordinary.tsv", each.words) for each in read_sentences() if each.expected == "none"
    ]
    return [
        Example(author=author, file=file, letters=plain_letters(words))
        for author, file, words in rows
        if file == "grief-danger.tsv" or LABELS[file] == "none"
    ]


def learn(examples: Sequence[Example]) -> Mapping[str, int]:
    """Return the weights of the features, in hundredths."""
    features = [sorted(each.features) for each in examples]
    counts = Counter(feature for each in features for feature in each)
    rows = [[f for f in each if counts[f] >= MIN_SENTENCES] for each in features]
    signs = [1 if each.is_danger else -1 for each in examples]
    costs = {sign: COST * len(signs) / (2 * signs.count(sign)) for sign in (1, -1)}
    shares = [costs[sign] / 1000 for sign in signs]
    weights: dict[str, float] = {f: 0.0 for f, count in counts.items() if count >= MIN_SENTENCES}
    for row, sign, share in zip(rows, signs, shares, strict=True):
        for feature in row:
            weights[feature] += sign * share
    order = list(range(len(rows)))
    random = Random(0)
    for _ in range(ROUNDS):
        random.shuffle(order)
        for number in order:
            row, sign = rows[number], signs[number]
            margin = sign * sum(weights[feature] for feature in row)
            share = _best_share(shares[number], costs[sign], margin, len(row))
            change = sign * (share - shares[number])
            shares[number] = share
            for feature in row:
                weights[feature] += change
    rounded = {feature: round(100 * weight) for feature, weight in weights.items()}
    return {f: weight for f, weight in rounded.items() if abs(weight) >= MIN_WEIGHT or f == ALWAYS}


def _best_share(share: float, cost: float, margin: float, square: int) -> float:
    """Return the share of an example that minimises the dual, the others being as they are."""
    low, high = 0.0, cost
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        slope = square * (middle - share) + margin + log(middle / (cost - middle))
        low, high = (low, middle) if slope > 0 else (middle, high)
    return (low + high) / 2


def table_by_author(examples: Sequence[Example]) -> str:
    """Return what weights that are learnt from all other authors notice in each author's sentences."""
    lines = ["| author | file | sentences | carded |", "|---|---|---|---|"]
    for author in dict.fromkeys(each.author for each in examples):
        weights = learn([each for each in examples if each.author != author])
        own = [each for each in examples if each.author == author]
        for file in dict.fromkeys(each.file for each in own):
            found = [is_noticed(each, weights) for each in own if each.file == file]
            lines.append(f"| {author} | {file} | {len(found)} | {sum(found)} |")
    return "\n".join(lines)


def is_noticed(example: Example, weights: Mapping[str, int]) -> bool:
    """Return whether weights take an example for danger."""
    weight, needed = weigh(example.letters, weights)
    return weight > needed


def text_of(weights: Mapping[str, int], examples: Sequence[Example]) -> str:
    """Return the file of the weights."""
    lines = [f"{weight} {feature}" for feature, weight in sorted(weights.items())]
    return "\n".join([HEADER, f"# Learnt from: {digest_of(examples)}", "", *lines, ""])


def digest_of(examples: Sequence[Example]) -> str:
    """Return a digest of what weights are learnt from."""
    digest = sha256()
    for example in examples:
        digest.update(f"{example.is_danger}\t{' '.join(sorted(example.features))}\n".encode())
    return digest.hexdigest()[:16]


def main() -> None:
    """Print the figures by author, or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m tests.safety.training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    examples = read_examples()
    if parser.parse_args().write:
        FILE.write_text(text_of(learn(examples), examples), encoding="utf-8")
    else:
        print(table_by_author(examples))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
