"""What the tour senses in words that it never saw."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.sense import ALWAYS, FELT, FILE, features_of, learnt, sense
from coaching.practice.coach.talk import short_clause
from tests.practice.training import Utterance, digest_of, learn, read_utterances

GROUPS = {"felt", "asked", "told"}


def test_the_weights_are_learnt_from_the_utterances_and_concepts_of_today() -> None:
    reason = "run: python -m tests.practice.training --write"
    assert f"# Learnt from: {digest_of(read_utterances())}" in FILE.read_text(encoding="utf-8"), reason


def test_each_intent_has_something_to_say_in_each_language() -> None:
    intents = {each.intent for each in read_utterances()}
    assert intents == set(learnt()[0])
    elsewhere = {"loss", "bye", "recall", "feature"}
    for code in texts.LANGUAGES:
        with texts.speaking(code):
            silent = {each for each in intents if not texts.answers(each) and each not in texts.questions()}
        assert silent == elsewhere
    assert intents >= FELT


def test_what_only_one_intent_says_weighs_for_it_and_the_same_utterances_give_the_same_weights() -> None:
    utterances = [
        Utterance(language="en", intent=intent, words=words)
        for intent, words in (
            ("tea", "a pot of tea"), ("tea", "more tea"), ("rain", "more rain"), ("rain", "rain on us"),
        )
    ]  # fmt: skip
    weights = learn(utterances)
    assert weights == learn(utterances)
    assert weights["tea"]["tea"] > 0 > weights["rain"]["tea"]
    assert all(ALWAYS in own for own in weights.values())


@pytest.mark.parametrize(
    ("words", "intents"),
    [
        ("My granny passed away on Sunday and I can't believe it", {"loss"}),
        ("Unser Kater ist vorgestern gestorben", {"loss"}),
        ("Se nos murió el abuelo en abril", {"loss"}),
        ("I'm so scared of the scan tomorrow", {"fear", "felt"}),
        ("ich hab furchtbare angst vor dem montag", {"fear", "felt"}),
        ("me da mucho miedo la operación", {"fear", "felt"}),
        ("are you a human or a bot", {"identity"}),
        ("wer kann das hier alles lesen", {"private"}),
        ("cuánto cuesta esto", {"real"}),
        ("could you write an email to my landlord for me", {"write"}),
        ("hola, buenas noches", {"hello"}),
    ],
)
def test_words_that_it_never_saw(words: str, intents: set[str]) -> None:
    assert words not in {each.words for each in read_utterances()}
    assert sense(words) in intents


def test_words_that_say_nothing_are_placed_in_no_intent() -> None:
    assert sense("zorp blick") in GROUPS
    assert sense("zorp blick?") in GROUPS
    assert ALWAYS in features_of("")


def test_a_clause_is_quoted_as_it_was_written() -> None:
    words = (
        "Well. She just walked out on us, and I stood there with the keys in my hand like a fool that evening"
    )
    assert short_clause(words) == "She just walked out on us"
    assert short_clause("ok") == ""
