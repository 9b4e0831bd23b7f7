"""What counts as distress, and what is only emphatic."""

import pytest

from coaching.safety.intensity import CALM, HIGH_WEIGHT, Intensity, SaidWords, measure_intensity

HEAVY = [
    "I'm completely overwhelmed and I can't stop crying.",
    "I can't breathe. Everything is too much for me right now.",
    "I AM SO OVERWHELMED",
    "I’m having a panic attack",
    "I was fired yesterday. I feel numb, and I can't stop shaking.",
    "I'm falling apart, honestly. I don't know how to get through this week.",
    "i cant cope anymore. i cant",
    "I hate myself for how I talked to her, I'm so ashamed",
    "I feel hopeless and worthless.",
    "She left me. I'm heartbroken and I can't sleep, I just lie there shaking",
    "I'm terrified of tomorrow and I feel so alone with it",
    "I broke down at work, in tears in front of everybody",
    "I'm so exhausted and lonely and stuck and nobody even notices",
]
CALM_ENOUGH = [
    "Good morning! Let's plan the day.",
    "I'M SO HAPPY!!! I GOT THE JOB!!!",
    "WOW THIS IS AMAZING!!!",
    "I'm not overwhelmed any more, actually.",
    "I no longer feel hopeless about it.",
    "The film was overwhelming, I was crying with laughter at the end.",
    "I'm a bit stressed about the report.",
    "I got stuck in traffic and lost an hour.",
    "He was furious about the parking ticket.",
    "My back hurts after gardening.",
    "I'm tired today.",
    "Can you write down that I want to read about grief rituals?",
    "I never panic before talks.",
    "Never mind, everything is fine!",
    "",
    "12345 !!! ???",
]


def weigh(*texts: str) -> Intensity:
    return measure_intensity([SaidWords(text) for text in texts])


@pytest.mark.parametrize("text", HEAVY)
def test_heavy_words_of_oneself_are_heavy(text: str) -> None:
    assert weigh(text).is_high


@pytest.mark.parametrize("text", CALM_ENOUGH)
def test_loud_denied_passing_and_foreign_words_are_not(text: str) -> None:
    assert not weigh(text).is_high


def test_danger_that_was_noticed_is_heavy_whatever_its_words_weigh() -> None:
    words = "My brother said that he doesn't want to go on."
    assert not measure_intensity([SaidWords(words)]).is_high
    assert measure_intensity([SaidWords(words, is_danger=True)]).weight == HIGH_WEIGHT
    assert measure_intensity([SaidWords(HEAVY[1], is_danger=True)]) == weigh(HEAVY[1])


def test_nothing_said_weighs_nothing() -> None:
    assert weigh() == CALM
    assert not CALM.is_high


def test_the_newest_message_counts_whole_and_two_before_it_half() -> None:
    heavy, calm = "I'm overwhelmed and I can't stop crying", "I had some tea."
    alone = weigh(heavy).weight
    assert weigh(heavy, calm).weight == alone // 2
    assert weigh(heavy, calm, calm, calm).weight == 0
    assert weigh(heavy, heavy).weight == alone + alone // 2


def test_what_builds_up_over_messages_becomes_heavy() -> None:
    texts = [
        "I'm anxious and I can't sleep.",
        "I feel so alone with it.",
        "I don't know, I'm just exhausted.",
    ]
    assert not weigh(*texts[:1]).is_high
    assert weigh(*texts).is_high


def test_a_very_long_message_is_weighed_in_no_time_and_saying_it_louder_adds_little() -> None:
    once = weigh("I feel hopeless.").weight
    assert weigh("I FEEL HOPELESS!!").weight == once + 1
    assert weigh("a" * 100_000 + " overwhelmed " * 5_000).weight >= 0


@pytest.mark.parametrize(
    "text",
    [
        "Ich kann nicht mehr, ich bin völlig verzweifelt.", "J’en peux plus, je pleure tout le temps.",
        "Estoy desesperada y no puedo parar de llorar.", "Non ce la faccio più, piango da ieri.",
        "Não aguento mais, estou desesperado.", "Ik trek het niet meer, ik zit te huilen.",
    ],
)  # fmt: skip
def test_heavy_words_of_each_language_that_the_rules_know_are_heavy(text: str) -> None:
    assert weigh(text).is_high


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin nicht verzweifelt, nur müde.", "Guten Morgen, heute ist viel los.", "Je ne suis pas triste.",
        "No estoy desesperada, todo bien.", "Oggi sono un po' stanco.", "Hoje estou feliz, tudo bem.",
        "Ik ben niet bang, het gaat goed.",
    ],
)  # fmt: skip
def test_calm_and_denied_words_of_other_languages_are_not(text: str) -> None:
    assert not weigh(text).is_high
