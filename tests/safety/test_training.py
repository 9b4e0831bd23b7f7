"""The weights of danger: learnt from the sentences as they are, and of use for others."""

from pathlib import Path

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.readable import plain_letters
from coaching.safety.weighed import ALWAYS, DANGER, GRIEF, PLAN, Weighable, learnt_weights, weighed_level
from tests.safety.training import (
    DANGEROUS,
    ROUNDS,
    Example,
    digest_of,
    examples_of,
    file_of,
    learn,
    levels_of,
    read_examples,
    tables_without,
)
from tests.thoroughness import sample, size

LEFT_OUT = "dev_9"
MIN_NOTICED = {GRIEF: 0.4, DANGER: 0.4}
MAX_CARDED = 0.06
ROOT = Path(__file__).parents[2]
LONG_CHARACTERS = 2_000


@pytest.mark.slow
@pytest.mark.parametrize("table", [GRIEF, DANGER, PLAN])
def test_the_weights_are_learnt_from_the_sentences_and_words_of_today(table: str) -> None:
    reason = "run: python -m tests.safety.training --write"
    text = file_of(table).read_text(encoding="utf-8")
    assert f"# Learnt from: {digest_of(examples_of(table))}" in text, reason


@pytest.mark.slow
def test_weights_of_other_authors_know_danger_in_the_sentences_of_one_who_is_left_out() -> None:
    examples = {table: sample(read_examples(table), of_each=3) for table in DANGEROUS}
    tables = tables_without(LEFT_OUT, examples, rounds=size(6, long=ROUNDS))
    for table, rows in examples.items():
        own = [each for each in rows if each.author == LEFT_OUT]
        noticed, carded = (
            [any(levels_of(each, tables)) for each in own if each.is_danger is is_danger]
            for is_danger in (True, False)
        )
        assert sum(noticed) >= MIN_NOTICED[table] * len(noticed)
        assert sum(carded) <= MAX_CARDED * len(carded)


def test_what_only_danger_says_weighs_for_it_and_the_same_sentences_give_the_same_weights() -> None:
    examples = [
        Example(author="a", file="a.tsv", letters=letters, is_danger=is_danger)
        for letters, is_danger in (
            ("i want to follow her", True), ("soon i follow him", True),
            ("i visit her grave", False), ("we visit his grave", False),
        )
    ]  # fmt: skip
    weights = learn(examples)
    assert weights == learn(examples)
    assert weights["follow"] > 0 > weights["visit"]


@pytest.mark.parametrize("table", [GRIEF, DANGER, PLAN])
def test_each_weight_has_a_feature(table: str) -> None:
    weights = learnt_weights(table)
    assert all(weights)
    assert ALWAYS in weights


def test_a_long_text_weighs_no_more_than_what_is_said_in_it() -> None:
    texts = [
        file.read_text(encoding="utf-8")[start : start + LONG_CHARACTERS]
        for file in (ROOT / "README.md", ROOT / "docs" / "architecture.md", ROOT / "docs" / "reliability.md")
        for start in range(0, 20_000, LONG_CHARACTERS)
    ]
    alarmed = [text for text in texts if weighed_level(Weighable.of(plain_letters(text)))]
    assert len(alarmed) <= MAX_CARDED * len(texts)


@pytest.mark.parametrize(
    "words",
    [
        "I have no plans to kill myself, I promise", "Ich bringe mich heute nicht um.",
        "When I was at university I tried to kill myself. I'm happily married now.",
        "I want you to be my friend", "I want you to be honest with me",
        "Don't ask me that anymore", "Het gaat goed, vraag het niet meer.",
    ],
)  # fmt: skip
def test_what_is_denied_or_past_or_asks_for_quiet_is_not_weighed_as_danger(words: str) -> None:
    assert find_danger(words) is None


def test_what_only_one_table_takes_for_danger_weighs_less() -> None:
    text = Weighable.of(plain_letters("My mother died and I keep her letters."))
    alone = {GRIEF: {ALWAYS: 220}, DANGER: {ALWAYS: 0}}
    denied = {GRIEF: {ALWAYS: 220}, DANGER: {ALWAYS: -200}}
    assert text.level(GRIEF, alone) == "concern"
    assert text.level(GRIEF, denied) is None


@pytest.mark.parametrize(
    "words",
    [
        "My friend overdosed in spring and I'd blocked her the week before. I have to live with that.",
        "I don't really know who I am without being her carer. I wake up at six for her tablets.",
    ],
)
def test_what_is_only_mentioned_is_none_if_the_whole_weighs_clearly_against_it(words: str) -> None:
    assert find_danger(words) is None


@pytest.mark.parametrize(
    ("words", "around"),
    [
        *(
            (words, around)
            for words in (
                "I want to kill myself.", "I took all the pills.", "I'm going to hang myself.",
                "I feel suicidal.", "I keep thinking about suicide.", "I took an overdose.",
            )
            for around in (
                "We buried Dad in March and the house is so quiet. My sister wants to sell it.",
                "Work was fine today. I cooked pasta for the kids. Can you help me plan the week?",
                "Years ago I had a bad time. I learnt to swim and now I sing in a choir.",
            )
        ),
        ("Ich will nicht mehr leben.", "Mein Vater ist im März gestorben. Ich gehe wieder in die Arbeit."),
        ("Quiero morirme.", "Mi padre murió en marzo. Hoy fui a trabajar y cociné para los niños."),
        ("Je veux mourir.", "Mon père est mort en mars. Je vais au travail et je cuisine pour les enfants."),
        ("Voglio morire.", "Mio padre è morto a marzo. Oggi sono andato al lavoro e ho cucinato."),
        ("Quero morrer.", "O meu pai morreu em março. Hoje fui ao trabalho e cozinhei para os miúdos."),
    ],
)  # fmt: skip
def test_what_is_said_around_it_takes_no_plain_wish_back(words: str, around: str) -> None:
    assert find_danger(f"{around} {words}") is not None
    assert find_danger(f"{words} {around}") is not None


@pytest.mark.parametrize(
    "words",
    [
        "I can manage ten minutes. I'll set a timer and clear the sink.",
        "I won't be able to sleep otherwise: I'm texting Lou an apology now.",
        "Half past ten and still in pyjamas. Whatever. I'm going out for twenty minutes now.",
    ],
)  # fmt: skip
def test_a_plan_for_everyday_things_is_no_danger(words: str) -> None:
    assert find_danger(words) is None


@pytest.mark.parametrize(
    "words", ["The rope is up already.", "I wrote the letters already. Tonight's the night."]
)
def test_plans_for_everyday_things_do_not_outweigh_danger_before_them(words: str) -> None:
    plans = "I'm calling my sister on Thursday. I'll tidy the kitchen tonight."
    assert find_danger(f"{words} {plans}") is not None


def test_what_weighs_most_is_immediate() -> None:
    text = Weighable.of(plain_letters("I have it ready."))
    levels = [text.level(DANGER, {GRIEF: {ALWAYS: 0}, DANGER: {ALWAYS: each}}) for each in (100, 200, 400)]
    assert levels == [None, "concern", "immediate"]
