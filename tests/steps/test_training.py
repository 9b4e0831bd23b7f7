"""The weights of promises belong to the tables, words and features of today, and are of use for others."""

from collections import Counter
from collections.abc import Sequence

import pytest

from coaching.library.promise_weights import WEIGHTS, learnt_weights
from coaching.safety.weighed import ALWAYS
from tests.steps.measure import LEARNT, read_rows, why
from tests.steps.training import (
    MIN_SENTENCES,
    TABLES_OF,
    Example,
    all_examples,
    author_of,
    digest,
    learn,
)
from tests.thoroughness import sample, size

ROUNDS = size(6, long=25)
LEAST_OF_UNSEEN, MOST_OTHERS = 0.62, 5
"""Of an author's promises, the share that is written at once; of their others, how many."""
STRANGERS = sorted({author_of(table) for table in LEARNT} - TABLES_OF.keys())
"""Not those who wrote to teach the weights: many of their sentences differ from a promise in a word."""


def test_the_weights_are_learnt_from_the_tables_words_and_features_of_today() -> None:
    reason = "run: python -m tests.steps.training --write"
    assert f"# Learnt from: {digest()}" in WEIGHTS.read_text(encoding="utf-8"), reason


def test_each_weight_has_a_feature() -> None:
    assert all(learnt_weights())
    assert ALWAYS in learnt_weights()


def test_what_only_promises_say_weighs_for_one_and_the_same_sentences_give_the_same_weights() -> None:
    examples = [
        Example(author="one", features=frozenset({thing, day}), is_promise=thing == "call")
        for thing in ("call", "moon")
        for day in ("today", "monday", "sunday")
        for _ in range(MIN_SENTENCES)
    ]
    weights = learn(examples)
    assert weights == learn(examples)
    assert weights["call"] > 0 > weights["moon"]


@pytest.fixture(scope="module")
def examples() -> Sequence[Example]:
    return all_examples()


@pytest.mark.slow
@pytest.mark.parametrize("author", sample(STRANGERS, of_each=3))
def test_weights_of_other_authors_know_the_promises_of_one_who_is_left_out(
    author: str, examples: Sequence[Example]
) -> None:
    weights = learn([each for each in examples if each.author != author], rounds=ROUNDS)
    rows = [row for table in LEARNT if author_of(table) == author for row in read_rows(table)]
    promised = sum(row["kind"] == "promise" for row in rows)
    written = Counter(row["kind"] for row in rows if not why(row, weights))
    assert written.pop("promise") >= LEAST_OF_UNSEEN * promised
    assert written.total() <= MOST_OTHERS, written
    assert not written.keys() & {"harm", "truncated"}
