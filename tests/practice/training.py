"""`python -m tests.practice.training [--write]`: learns what the tour senses intents by (`coach/sense.txt`).

Without `--write` it prints, for each intent and language, how many of the utterances that were left out of
the learning are taken for what they are: each fifth is judged by weights that are learnt from the others.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from coaching.practice.coach.sense import ALWAYS, FILE, features_of
from tests.learning import rounded, solve

FOLDER = Path(__file__).with_name("heard")
LANGUAGES = ("en", "de", "es")
HEADER = "# Weights of features for intents, in hundredths (sense.py); the first line names the intents."
COST = 1.0
ROUNDS = 4
MIN_WEIGHT = 4
"""In hundredths: smaller weights are left out."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What somebody may say to the tour, with its intent."""

    language: str
    intent: str
    words: str


def read_utterances() -> Sequence[Utterance]:
    """Return all utterances, in the order of the files."""
    found: list[Utterance] = []
    for language in LANGUAGES:
        intent = ""
        for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                intent = line.strip("[]")
            elif line:
                found.append(Utterance(language=language, intent=intent, words=line))
    return found


def learn(utterances: Sequence[Utterance]) -> Mapping[str, Mapping[str, int]]:
    """Return for each intent the weights of its features: against all other intents together."""
    rows = [sorted(features_of(each.words)) for each in utterances]
    intents = sorted({each.intent for each in utterances})
    return {intent: _learn_one(intent, utterances, rows) for intent in intents}


def _learn_one(
    intent: str, utterances: Sequence[Utterance], rows: Sequence[Sequence[str]]
) -> Mapping[str, int]:
    own = sum(each.intent == intent for each in utterances)
    signs = [1 if each.intent == intent else -1 for each in utterances]
    share = {1: (len(rows) / own) ** 0.5, -1: 1.0}
    costs = [COST * share[sign] for sign in signs]
    return rounded(solve(rows, signs, costs, rounds=ROUNDS), least=MIN_WEIGHT, always=ALWAYS)


def text_of(utterances: Sequence[Utterance]) -> str:
    """Return the file of the weights: a feature, and the numbers of the intents that it has a weight for."""
    weights = learn(utterances)
    intents = list(weights)
    by_feature: dict[str, list[str]] = defaultdict(list)
    for number, intent in enumerate(intents):
        for feature, weight in weights[intent].items():
            by_feature[feature].append(f"{number}:{weight}")
    lines = [f"{feature}\t{' '.join(pairs)}" for feature, pairs in sorted(by_feature.items())]
    learnt_from = f"# Learnt from: {digest_of(utterances)}"
    return "\n".join([HEADER, learnt_from, " ".join(intents), *lines, ""])


def digest_of(utterances: Sequence[Utterance]) -> str:
    """Return a digest of what weights are learnt from."""
    digest = sha256()
    for each in utterances:
        digest.update(f"{each.intent}\t{' '.join(sorted(features_of(each.words)))}\n".encode())
    return digest.hexdigest()[:16]


def table_by_intent(utterances: Sequence[Utterance]) -> str:
    """Return how many of the utterances that were left out are taken for what they are."""
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for fold in range(FOLDS):
        weights = learn([each for number, each in enumerate(utterances) if number % FOLDS != fold])
        for each in utterances[fold::FOLDS]:
            features = features_of(each.words)
            sums = {name: sum(own.get(f, 0) for f in features) for name, own in weights.items()}
            hits[each.intent, each.language].append(max(sums, key=sums.__getitem__) == each.intent)
    lines = ["| intent | language | utterances | known |", "|---|---|---|---|"]
    lines += [f"| {name} | {code} | {len(own)} | {sum(own)} |" for (name, code), own in sorted(hits.items())]
    total = [hit for own in hits.values() for hit in own]
    return "\n".join([*lines, f"| all | | {len(total)} | {sum(total)} |"])


def main() -> None:
    """Print the figures by intent, or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m tests.practice.training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    utterances = read_utterances()
    if parser.parse_args().write:
        FILE.write_text(text_of(utterances), encoding="utf-8")
    else:
        print(table_by_intent(utterances))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
