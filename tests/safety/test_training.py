"""The weights of danger in grief: learnt from the sentences as they are, and of use for others."""

from coaching.safety.grief_danger import ALWAYS, learnt_weights
from tests.safety.training import (
    FILE,
    Example,
    digest_of,
    is_noticed,
    learn,
    read_examples,
)

UNSEEN_AUTHOR = "grief_two"
MIN_NOTICED, MAX_CARDED = 0.4, 0.06


def test_the_weights_are_learnt_from_the_sentences_and_words_of_today() -> None:
    reason = "run: python -m tests.safety.training --write"
    assert f"# Learnt from: {digest_of(read_examples())}" in FILE.read_text(encoding="utf-8"), reason


def test_weights_of_other_authors_know_danger_in_the_sentences_of_one_who_is_left_out() -> None:
    examples = read_examples()
    weights = learn([each for each in examples if each.author != UNSEEN_AUTHOR])
    own = [each for each in examples if each.author == UNSEEN_AUTHOR]
    for label, is_danger in (("danger", True), ("harmless", False)):
        found = [is_noticed(each, weights) for each in own if each.is_danger == is_danger]
        share = sum(found) / len(found)
        assert (share >= MIN_NOTICED) if is_danger else (share <= MAX_CARDED), label


def test_what_only_danger_says_weighs_for_it_and_the_same_sentences_give_the_same_weights() -> None:
    examples = [
        Example(author="a", file=file, letters=letters)
        for file, letters in (
            ("grief-danger.tsv", "i want to follow her"), ("grief-danger.tsv", "soon i follow him"),
            ("grief.tsv", "i visit her grave"), ("grief.tsv", "we visit his grave"),
        )
    ]  # fmt: skip
    weights = learn(examples)
    assert weights == learn(examples)
    assert weights["follow"] > 0 > weights["visit"]


def test_each_weight_has_a_feature() -> None:
    assert all(feature for feature in learnt_weights())
    assert ALWAYS in learnt_weights()
