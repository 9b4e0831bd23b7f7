"""Which paragraphs stay: those that rest on whole sentences of the person, and say nothing else in quotes."""

import uuid
from datetime import date

import pytest

from coaching.letters.checking import ClaimedParagraph, ClaimedQuote, Sayings, checked
from coaching.letters.words import SaidWords

DAY = date(2026, 10, 3)
SESSION = uuid.UUID(int=1)


def said(*texts: str, day: date = DAY) -> Sayings:
    return Sayings(
        SaidWords(session_id=SESSION, number=2 * place + 1, text=text, day=day)
        for place, text in enumerate(texts)
    )


def claimed(text: str, *quotes: str, day: date | None = DAY) -> ClaimedParagraph:
    return ClaimedParagraph(
        kind="moved", text=text, quotes=[ClaimedQuote(words=words, day=day) for words in quotes]
    )


def shown(sayings: Sayings, *quotes: str, text: str = "You talked about it.") -> list[str]:
    """Return the sentences that a paragraph with these quotes keeps; none if it is dropped."""
    paragraphs = checked([claimed(text, *quotes)], sayings)
    return [quote.sentence for paragraph in paragraphs for quote in paragraph.quotes]


@pytest.mark.parametrize(
    ("words", "quote", "sentence"),
    [
        ("I sleep badly. It's loud.", "I sleep badly", "I sleep badly."),
        ("I won’t call Mum on Thursday!", "call mum on thursday", "I won’t call Mum on Thursday!"),
        ("Ich rufe morgen an.\nDann sehe ich weiter.", "ICH RUFE MORGEN AN", "Ich rufe morgen an."),
        ("- I’ll  paint\tagain.", "I'll paint again.", "I’ll paint again."),
        ("It began badly. Then it went well.", "badly. Then it", "It began badly. Then it went well."),
        ("我昨天睡得很好。今天也是。", "我昨天睡得很好", "我昨天睡得很好。"),
        ("Did I really say that?", "did I really say that", "Did I really say that?"),
    ],
)
def test_a_quote_is_shown_as_the_whole_sentence_that_the_person_wrote(
    words: str, quote: str, sentence: str
) -> None:
    assert shown(said(words), quote) == [sentence]


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("I sleep well.", "sleep"),
        ("She said: “You never listen to me.”", "You never listen to me"),
        ("She wrote: “You never listen. You never did. Leave me alone.”", "You never did."),
        ("> You never listen to me.\nThat hurt.", "You never listen to me."),
        ("```\nYou never listen to me.\n```", "You never listen to me."),
        ("From: Eva\nYou never listen to me.", "You never listen to me."),
        ("On Monday Eva wrote:\nYou never listen to me.", "You never listen to me."),
        (f"{'It was long. ' * 150}You never listen to me.", "You never listen to me."),
        (f"You never listen to me {'and me ' * 80}.", "You never listen to me"),
        ("I want to kill myself tonight.", "I want to kill myself tonight."),
    ],
)
def test_words_that_may_be_somebody_elses_or_are_of_danger_are_no_quotes(words: str, quote: str) -> None:
    assert shown(said(words), quote) == []


@pytest.mark.parametrize(
    "text",
    [
        "You said “I hate my job”.",
        'You said "I sleep very badly".',
        "You said 'I hate my job'.",
        "You said ‘I hate my job’ again.",
        "You said „I hate my job“.",
        "You said «I hate my job».",
        "You said “I hate my job.",
        "On 4 October you slept badly.",
        "You slept badly 3 nights and ran 12 km.",
        "You said it on 2025-10-03.",
        "You thought of killing yourself.",
        "",
        "You " + "slept and " * 80,
    ],
)
def test_a_text_that_says_more_in_quotes_or_numbers_than_its_quotes_is_dropped(text: str) -> None:
    assert shown(said("I sleep badly.", "I hate my jobs."), "I sleep badly.", text=text) == []


@pytest.mark.parametrize(
    "text",
    [
        "You said “sleep badly” then.",
        "On 3 October 2026 you wrote about sleep.",
        "It wasn’t your neighbours’ noise, and it’s better now.",
    ],
)
def test_a_text_may_repeat_its_quotes_and_name_their_day(text: str) -> None:
    assert shown(said("I sleep badly."), "I sleep badly.", text=text) == ["I sleep badly."]


def test_a_paragraph_keeps_its_true_quotes_and_none_of_the_false_ones() -> None:
    assert shown(said("I sleep badly.", "I like tea a lot."), "I sleep badly.", "I like coffee a lot.") == [
        "I sleep badly."
    ]


def test_a_sentence_is_quoted_in_one_paragraph_only() -> None:
    both = [claimed("You sleep.", "I sleep badly."), claimed("You sleep again.", "I sleep badly.")]
    assert [paragraph.text for paragraph in checked(both, said("I sleep badly."))] == ["You sleep."]


@pytest.mark.parametrize("day", [None, date(2026, 10, 4), date(2025, 10, 3)])
def test_a_quote_of_another_day_is_none(day: date | None) -> None:
    assert not checked([claimed("You sleep.", "I sleep badly.", day=day)], said("I sleep badly."))


def test_lines_that_the_person_has_removed_are_never_said() -> None:
    sayings = said("I drink a bottle of wine every evening.")
    paragraph = claimed("You wrote about the evenings.", "I drink a bottle of wine every evening.")
    assert checked([paragraph], sayings)
    assert not checked([paragraph], sayings, struck=["You drink a bottle of wine every evening."])


def test_an_apostrophe_inside_a_word_is_no_quotation_mark() -> None:
    assert shown(said("J’ai dormi l’après-midi."), "J'ai dormi l'après-midi", text="C’est l’été d’avant.")
