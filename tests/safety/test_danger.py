"""Minimum accuracy on the written sentences, and unusual inputs."""

import json
import os
import re
import time
from collections import Counter
from dataclasses import asdict
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.safety import figures
from coaching.safety.card import danger_in
from coaching.safety.danger import find_danger
from coaching.safety.harmless import without_answered_no
from coaching.safety.phrases import all_phrases
from coaching.safety.readable import readable
from tests.patience import patience
from tests.safety.measure import (
    HELD_OUT,
    LATER,
    TUNED,
    Sentence,
    measure,
    measure_unseen,
    read_sentences,
)

SENTENCES = read_sentences()


def part(name: str) -> list[Sentence]:
    return [sentence for sentence in SENTENCES if sentence.part == name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "missed", "alarmed"), [(TUNED, 0.02, 0.02), (HELD_OUT, 0.03, 0.05), (LATER, 0.05, 0.03)]
)
def test_misses_and_false_alarms_stay_few(name: str, missed: float, alarmed: float) -> None:
    got = measure(part(name))
    assert got.miss_rate <= missed, [row.words for row in got.missed]
    assert got.alarm_rate <= alarmed, [row.words for row in got.alarmed]


@pytest.mark.slow
def test_no_plain_word_of_dying_is_missed() -> None:
    plain = ("direct", "obfuscated", "selfharm")
    got = measure(row for row in SENTENCES if row.kind in plain and row.expected == "immediate")
    assert not got.missed


@pytest.mark.slow
def test_what_is_immediate_is_seldom_taken_for_less() -> None:
    got = measure(SENTENCES)
    lowered = [row for row in got.other_level if row.expected == "immediate"]
    assert len(lowered) <= 0.13 * sum(row.expected == "immediate" for row in SENTENCES)


def test_the_set_is_large_and_mixed_and_its_halves_are_alike() -> None:
    kinds = {row.kind for row in SENTENCES}
    assert len(SENTENCES) > 1000
    assert {"mixed", "ironicdanger", "quoted", "other", "idiom", "negated", "past", "indirect"} <= kinds
    sizes = Counter(row.part for row in SENTENCES)
    assert 0.8 < sizes[TUNED] / sizes[HELD_OUT] < 1.25


@pytest.mark.slow
def test_the_published_figures_are_those_of_the_sentences_that_the_rules_never_saw() -> None:
    measured = {name: asdict(found) for name, found in measure_unseen().items()}
    if os.environ.get("SAGE_TEST_WRITE"):
        figures.FILE.write_text(json.dumps(measured, indent=2) + "\n")
    assert json.loads(figures.FILE.read_text()) == measured, "write it anew with SAGE_TEST_WRITE=1"


@pytest.mark.slow
def test_few_of_the_harmless_sentences_that_the_rules_never_saw_raise_an_alarm() -> None:
    found = measure_unseen().values()
    harmless, alarmed = sum(each.harmless for each in found), sum(each.alarmed for each in found)
    assert sum(each.immediate + each.concern + each.harmless for each in found) >= 200
    assert alarmed <= 0.05 * harmless


@pytest.mark.parametrize(
    ("words", "about", "topic"),
    [
        ("I want to die.", "self", "life"),
        ("My brother said he wants to die.", "other", "life"),
        ("My husband hits me.", "self", "violence"),
        ("My sister's husband beats her.", "other", "violence"),
        ('The voice says "kill yourself"', "self", "life"),
        ("I'm going to kill him.", "self", "life"),
    ],
)
def test_it_says_whose_danger_it_is_and_of_what_kind(words: str, about: str, topic: str) -> None:
    danger = find_danger(words)
    assert danger is not None
    assert (danger.about, danger.topic) == (about, topic)


def test_one_sentence_of_danger_is_found_in_a_long_calm_message() -> None:
    calm = "The meeting went well and I had soup. We planned the garden for spring. " * 100
    assert find_danger(calm) is None
    assert find_danger(f"{calm}I want to kill myself. {calm}") is not None


@pytest.mark.parametrize(
    "words",
    [
        "ich will sterben", "Je veux mourir.", "quiero matarme", "voglio morire", "quero morrer",
        "ik wil dood", "Jag vill dö", "chcę umrzeć", "хочу умереть", "死にたい", "我想死",
        "죽고 싶어요", "ölmek istiyorum",
    ],
)  # fmt: skip
def test_the_plainest_words_of_other_languages_are_noticed(words: str) -> None:
    assert find_danger(words) is not None


@pytest.mark.parametrize(
    "words", ["No quiero morir.", "Ich will nicht sterben.", "Guten Morgen!", "今日は元気です"]
)
def test_other_calm_words_of_other_languages_are_not(words: str) -> None:
    assert find_danger(words) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("I’m gonna K1LL my self", "i'm going to kill myself"),
        ("i want to d.i.e", "i want to die"),
        ("s*icide", "suicide"),
        ("dieeee", "die"),
        ("\u0456 w\u0430nt to d\u0456e", "i want to die"),
        ("I\u200b want\u00ad to die", "i want to die"),
        ("\uff49 want to \uff44\uff49\uff45", "i want to die"),
        ("I do not want to. I’d go.", "i don't want to. i would go."),
        ("every1 was there at 10:30", "everyone was there at 10:30"),
        ("at 5 p.m. and e.g. this", "at 5 p.m. and e.g. this"),
    ],
)
def test_spellings_and_disguises_come_out_as_one(written: str, read: str) -> None:
    assert readable(written) == read


@pytest.mark.slow
def test_what_a_phrase_needs_is_in_everything_that_it_finds() -> None:
    for sentence in SENTENCES:
        plain = readable(sentence.words)
        for phrase in all_phrases():
            for match in phrase.pattern.finditer(plain):
                assert any(piece in match[0] for piece in phrase.needs), phrase.pattern.pattern


@given(st.text(max_size=400))
def test_no_text_is_too_strange(text: str) -> None:
    find_danger(text)


_ANSWERED_NO = re.compile(
    r"[^.!?\n;]*\?\W*(?=(?:no|nope|nah|never|not at all|of course not|absolutely not|god no|hell no"
    r"|definitely not|not really|not anymore)\b(?! (?:one|idea|reason|way|point)\b))"
)


@given(st.lists(st.sampled_from(["no", "no one", "nope", "die", "?", ".", " ", "\n", "-", "not at all"])))
def test_a_question_is_left_out_if_its_answer_is_no(pieces: list[str]) -> None:
    plain = "".join(pieces)
    assert without_answered_no(plain) == _ANSWERED_NO.sub(" ~ ", plain)  # in quadratic time


def test_what_was_found_in_a_long_text_is_remembered() -> None:
    text = f"{'The garden needed water. ' * 100}I want to kill myself."
    assert danger_in(text) is danger_in(text)
    assert danger_in(text) == find_danger(text)
    assert danger_in({"note": text}) is danger_in(text)
    assert danger_in("The garden needed water. " * 100) is None


LONGEST = 20_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["want to ", "i think about it and not ", "die\nkill\n", "a*", "\"'", "if he died ", "e\u0301\u200b", " ",
     "@", "years ago i wanted to die. and ok. ", '{"a":', "?", "a?", "a. ", "![", "i want to die ",
     "i don't want to die ", "no die ", "the film suicide ", "will will ", "nicht ich will sterben ",
     "asked if i die ", '"i die" she said ', "don't not wanting to be around ", "\ufdfa"],
)  # fmt: skip
def test_the_longest_hostile_message_is_read_in_a_moment(unit: str) -> None:
    text = (unit * LONGEST)[:LONGEST]
    assert min(_seconds(text) for _ in range(3)) < 0.1 * patience()


@pytest.mark.slow
def test_a_long_message_of_many_different_sentences_is_read_in_a_moment() -> None:
    masked = " ".join(f"{one}{two}*{three}t" for one, two, three in product("abcdefgikls", repeat=3))
    short = ". ".join(map("".join, product("abcdefghi", repeat=4)))
    for text in (masked, short):
        assert min(_seconds(text[:LONGEST]) for _ in range(3)) < 0.1 * patience()


def _seconds(text: str) -> float:
    began = time.thread_time()
    find_danger(text)
    return time.thread_time() - began


@pytest.mark.parametrize(
    ("ordinary", "danger"),
    [
        ("I'm scared I can't do it", "I wrote the letters and now I'm scared I can't do it"),
        ("I'm scared that I can't do it!", "I'm scared I can't stop myself"),
        ("I know what to do, I just don't do it", "I know how I would do it"),
        ("im gonna be a grandma!!!", "I'm gonna be dead by Sunday"),
        ("I don't want to be there", "I don't want to be there any more"),
        ("I've already told him, he doesn't listen", "I've already told them, nobody listens"),
        ("ive told her but she won't listen", "I've told him I'm going to do it, he doesn't listen"),
        ("I'm at the station waiting for the train home", "I'm at the station waiting for the train"),
        ("still at the station, waiting for my train to work", "I'm at the station, the next train is mine"),
        ("I'm scared of what I'll say to her", "I'm scared of what I'll do to her"),
        ("I'm afraid of what I might say", "I'm afraid of what I might say and do"),
        ("I'm terrified of what I'll say to the boss tomorrow", "I'm scared of what I'll say before I go"),
        ("They put him to sleep at four and I don't want to be there.", "I don't want to be here"),
        ("I'll try again on Friday", "They pumped my stomach. I will try again on Monday"),
        ("I will try again next week", "I survived. I will try again on Sunday."),
        ("Maybe I'll try again on Wednesday", "It didn't work, I will try again next week"),
        ("I'll try again on Saturday", "I'll try again on Saturday night, on the bridge"),
        ("ok, I'll try it again next term", "I will try again on Friday when the kids are gone"),
        ("I'll try again next year!", "I will try again next time"),
        ("Ich versuche es am Freitag nochmal", "Ich habe es versucht, am Freitag bringe ich mich um"),
        ("I've decided to go to Spain in June", "I've decided it's time to go"),
        ("I have decided to let it go for now", "I've decided to do it"),
        ("Die Briefe von der Bank liegen noch in der Post", "Die Briefe liegen auf dem Tisch"),
        ("Es ist alles vorbereitet für die Party", "Es ist alles geregelt"),
        ("Me corté la punta del pulgar con el cuchillo nuevo", "Me corté otra vez los brazos"),
        ("Es una despedida de soltera", "Es una despedida"),
        (
            "Sie ist gestorben. Ich war kurz draußen, dann bin ich wieder rein",
            "Mama ist tot, bald bin ich wieder bei ihr",
        ),
        ("Lo intentaré otra vez el viernes", "Lo intenté, el viernes voy a suicidarme"),
    ],
)
def test_everyday_words_alone_bring_no_card_and_with_more_they_count(ordinary: str, danger: str) -> None:
    assert find_danger(ordinary) is None
    assert find_danger(danger) is not None
    assert find_danger(f"{ordinary.rstrip('!.')}. I want to die.") is not None
