"""What is said around danger doesn't hide it, and long everyday messages raise few alarms."""

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.meanings import MAX_SENTENCE_WORDS, SPANS, spans_of
from tests.safety.beside import (
    LANGUAGES,
    beside,
    dangerous_sentences,
    everyday_messages,
    everyday_texts,
    found_of_kinds,
    hidden,
    unmarked,
)
from tests.steps.measure import FRESH, read_rows
from tests.thoroughness import size

MAX_HIDDEN = {"named": 0.02, "weighed": 0.1}
MAX_HIDDEN_WITHOUT_MARKS = 0.4
MAX_ALARMED = 0.22
MIN_HARM = 0.75


@pytest.mark.parametrize("language", LANGUAGES)
def test_everyday_texts_alone_bring_no_card(language: str) -> None:
    texts = [" ".join(text) for text in everyday_texts(language)]
    assert texts
    assert not [text for text in texts if find_danger(text) or find_danger(unmarked(text))]


@pytest.mark.slow
def test_everyday_sentences_around_danger_do_not_hide_it() -> None:
    for key, (missed, found) in hidden(dangerous_sentences(of_each=size(160, long=8))).items():
        kind = key.partition(",")[0]
        share = MAX_HIDDEN_WITHOUT_MARKS if "without marks" in key else MAX_HIDDEN[kind]
        assert missed <= max(1, share * found), key


@pytest.mark.slow
def test_long_everyday_messages_raise_few_alarms() -> None:
    messages = list(everyday_messages(10))[:: size(6, long=1)]
    assert sum(find_danger(each) is not None for each in messages) <= MAX_ALARMED * len(messages)


@pytest.mark.slow
def test_most_plans_of_harm_are_found() -> None:
    rows = [row for table in FRESH for row in read_rows(table) if row["kind"] == "harm"]
    ((found, all_),) = found_of_kinds(rows).values()
    assert found >= MIN_HARM * all_


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "The rope is up already."), ("en", "I wrote the letters already. Tonight's the night."),
        ("en", "Tonight I'm taking all of them."), ("de", "Heute Nacht nehme ich alles, was da ist."),
        ("es", "Esta noche me tomo todo lo que hay."), ("fr", "Ce soir j'avale tout ce qui reste."),
        ("it", "Stanotte lascio questo mondo."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["before", "after", "on both sides"])
def test_one_sentence_of_danger_is_found_among_eight(language: str, words: str, place: str) -> None:
    text = beside((language, words), number=8, place=place, turn=0)
    assert find_danger(text) is not None
    assert find_danger(text.replace(". ", ".\n- ")) is not None
    assert find_danger(text.replace(". ", " 🙂\n")) is not None


@pytest.mark.parametrize(
    "words", ["I already took the pills.", "I've locked the bathroom door and I've got a blade."]
)
def test_everyday_words_of_other_sentences_do_not_make_danger_harmless(words: str) -> None:
    around = "Mum asked about the recipe for the cake. We took photos of the sunset at the office."
    assert find_danger(f"{words} {around}") is not None
    assert find_danger(f"{around} {words}") is not None


@pytest.mark.parametrize(
    "words",
    [
        "Je lui casse les dents demain.", "El viernes le rompo las piernas.", "Domani gli spacco la faccia.",
        "Morgen schlage ich ihm die Zähne ein.", "Le parto la cara cuando salga.",
        "Ich gebe am Sonntag den Löffel ab.", "El sábado me quito de en medio.",
        "Venerdì mi tolgo di mezzo.",
    ],
)  # fmt: skip
def test_plans_of_harm_are_named_in_other_languages(words: str) -> None:
    assert find_danger(words) is not None


@pytest.mark.parametrize(
    "words",
    [
        "Me quito de en medio para que puedan pasar con el sofá.", "Vendredi je le massacre au ping-pong.",
        "Mi tolgo di mezzo così passate con il divano.", "Ich gebe den Brief morgen ab.",
        "Le rompo el corazón si no voy.", "Ich schlage ihm einen Termin vor.",
    ],
)  # fmt: skip
def test_what_only_resembles_them_is_none(words: str) -> None:
    assert find_danger(words) is None


def test_spans_overlap_and_hold_every_word() -> None:
    words = [str(number) for number in range(2 * MAX_SENTENCE_WORDS + 7)]
    pieces = [words[start : start + MAX_SENTENCE_WORDS] for start in range(0, len(words), MAX_SENTENCE_WORDS)]
    spans = list(spans_of(pieces))
    assert {word for span in spans for word in span} == set(words)
    assert {len(span) for span in spans} <= set(range(1, max(SPANS) + 1))
    assert not list(spans_of([words[: max(SPANS)]]))
