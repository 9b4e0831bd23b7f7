"""The weights of promises belong to the tables, words and features of today."""

from coaching.library.promise_weights import WEIGHTS, learnt_weights
from coaching.safety.weighed import ALWAYS
from tests.steps.training import MIN_SENTENCES, Example, digest, learn


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
