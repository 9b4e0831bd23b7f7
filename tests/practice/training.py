"""`python -m tests.practice.training [--write]`: learns what the tour senses by (`coach/sense.txt`).

Without `--write` it prints for each author how many of their utterances are taken for what they do by weights
that are learnt from all other authors.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import exp
from pathlib import Path

from coaching.practice.coach.sense import ALWAYS, FILE, features_of
from tests.learning import rounded, solve

Weights = Mapping[str, int]
FOLDER = Path(__file__).with_name("heard")
HEADER = (
    "# Weights of features in hundredths (sense.py): the first line names the acts, then come the topics."
)
COST = 1.0
ROUNDS = 4
MIN_WEIGHT = 6
"""In hundredths: smaller weights are left out."""
TALKS = ("talk_a", "talk_b", "talk_c", "talk_d")
"""Whole conversations by authors who labelled what they wrote; `more` is by another, as are en, de and es."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What somebody may say to the tour, what it does, and what it is about if the tour tells that apart."""

    author: str
    act: str
    topic: str
    words: str

    @property
    def path(self) -> str:
        """Act and topic in one; empty without a topic."""
        return f"{self.act}/{self.topic}" if self.topic else ""


def read_utterances() -> Sequence[Utterance]:
    """Return all utterances, in the order of the files."""
    return [each for file in sorted(FOLDER.glob("*.txt")) for each in _read(file)]


def _read(file: Path) -> Iterator[Utterance]:
    """Read lines `ACT/TOPIC<tab>words`, conversation by conversation."""
    for line in file.read_text(encoding="utf-8").splitlines():
        label, _, words = line.partition("\t")
        act, _, topic = label.partition("/")
        if words and act != "other":
            about = "" if topic in {"-", "other"} else topic
            yield Utterance(author=file.stem, act=act, topic=about, words=words)


def learn_acts(utterances: Sequence[Utterance]) -> Mapping[str, Weights]:
    """Return for each act the weights of its features: against all others together."""
    rows = [sorted(features_of(each.words)) for each in utterances]
    acts = sorted({each.act for each in utterances})
    return {act: _learn_one([each.act == act for each in utterances], rows) for act in acts}


def learn_topics(utterances: Sequence[Utterance]) -> Mapping[str, Weights]:
    """Return the same for each topic."""
    rows = [sorted(features_of(each.words)) for each in utterances]
    topics = sorted({each.path for each in utterances} - {""})
    return {topic: _learn_one([each.path == topic for each in utterances], rows) for topic in topics}


def _learn_one(are: Sequence[bool], rows: Sequence[Sequence[str]]) -> Weights:
    share = (len(rows) / sum(are)) ** 0.5
    costs = [COST * (share if is_own else 1.0) for is_own in are]
    signs = [1 if is_own else -1 for is_own in are]
    return rounded(solve(rows, signs, costs, rounds=ROUNDS), least=MIN_WEIGHT, always=ALWAYS)


def text_of(utterances: Sequence[Utterance]) -> str:
    """Return the file of the weights: a feature, and the numbers of what it has a weight for."""
    acts, topics = learn_acts(utterances), learn_topics(utterances)
    by_feature: dict[str, list[str]] = defaultdict(list)
    for number, own in enumerate([*acts.values(), *topics.values()]):
        for feature, weight in own.items():
            by_feature[feature].append(f"{number}:{weight}")
    lines = [f"{feature}\t{' '.join(pairs)}" for feature, pairs in sorted(by_feature.items())]
    learnt_from = f"# Learnt from: {digest_of(utterances)}"
    return "\n".join([HEADER, learnt_from, " ".join(acts), " ".join(topics), *lines, ""])


def digest_of(utterances: Sequence[Utterance]) -> str:
    """Return a digest of what weights are learnt from."""
    digest = sha256()
    for each in utterances:
        digest.update(f"{each.act}/{each.topic}\t{' '.join(sorted(features_of(each.words)))}\n".encode())
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many utterances of an author are taken for what they do; of those, where that is clear."""

    utterances: int
    right: int
    clear: int
    clear_right: int
    mistaken: Counter[tuple[str, str]]


def measure_without(author: str, utterances: Sequence[Utterance], *, clear: float = 0.5) -> Found:
    """Measure the utterances of an author by weights that are learnt from all others."""
    weights = learn_acts([each for each in utterances if each.author != author])
    acts = list(weights)
    taken: list[tuple[str, str, bool]] = []
    for each in (each for each in utterances if each.author == author):
        features = features_of(each.words)
        sums = [sum(own.get(f, 0) for f in features) for own in weights.values()]
        total = sum(exp((one - max(sums)) / 100) for one in sums)
        taken.append((each.act, acts[sums.index(max(sums))], 1 / total >= clear))
    return Found(
        utterances=len(taken),
        right=sum(act == best for act, best, _ in taken),
        clear=sum(is_clear for *_, is_clear in taken),
        clear_right=sum(is_clear and act == best for act, best, is_clear in taken),
        mistaken=Counter((act, best) for act, best, _ in taken if act != best),
    )


def table_by_author(utterances: Sequence[Utterance]) -> str:
    """Return how many of each author's utterances are taken for what they do."""
    lines = [
        "| author | utterances | right | clear | of those right | mistaken |",
        "|---|---|---|---|---|---|",
    ]
    for author in TALKS:
        found = measure_without(author, utterances)
        most = ", ".join(f"{act} for {best}: {n}" for (act, best), n in found.mistaken.most_common(5))
        counts = (found.utterances, found.right, found.clear, found.clear_right)
        lines.append(f"| {author} | {' | '.join(map(str, counts))} | {most} |")
    return "\n".join(lines)


def main() -> None:
    """Print the figures by author, or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m tests.practice.training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    utterances = read_utterances()
    if parser.parse_args().write:
        FILE.write_text(text_of(utterances), encoding="utf-8")
    else:
        print(table_by_author(utterances))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
