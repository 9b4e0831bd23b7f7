"""Whom and when a question is about."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from coaching.recall.question import read_question

NOW = datetime(2026, 11, 22, 10, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("What did I decide about the job?", 1),
        ("my sister's birthday", 1),
        ("Can you remind me what I said?", 1),
        ("What did Ada paint?", 1),
        ("What did you suggest I do?", -1),
        ("Remind me what you said about sleep", -1),
        ("What was Sage's advice?", -1),
        ("your idea for the weekend", -1),
        ("the trip to Rome", 0),
        ("", 0),
    ],
)
def test_who_is_asked_about(text: str, speaker: int) -> None:
    assert read_question(text, user_names=["Ada"], now=NOW).speaker == speaker


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", date(2026, 11, 21), date(2026, 11, 22)),
        ("last Tuesday", date(2026, 11, 17), date(2026, 11, 18)),
        ("last week", date(2026, 11, 9), date(2026, 11, 16)),
        ("this week", date(2026, 11, 16), date(2026, 11, 23)),
        ("last month", date(2026, 10, 1), date(2026, 11, 1)),
        ("last spring", date(2026, 3, 1), date(2026, 6, 1)),
        ("last winter", date(2025, 12, 1), date(2026, 3, 3)),
        ("in May", date(2026, 5, 1), date(2026, 6, 1)),
        ("may I ask, in August", date(2026, 8, 1), date(2026, 9, 1)),
        ("in March", date(2026, 3, 1), date(2026, 4, 1)),
        ("in December", date(2025, 12, 1), date(2026, 1, 1)),
        ("on 3 August 2023", date(2023, 8, 3), date(2023, 8, 4)),
        ("August 3rd, 2023", date(2023, 8, 3), date(2023, 8, 4)),
        ("on 2023-08-03", date(2023, 8, 3), date(2023, 8, 4)),
        ("in 2024", date(2024, 1, 1), date(2024, 12, 31)),
    ],
)
def test_which_days_are_asked_about(text: str, first: date, last: date) -> None:
    between = read_question(f"What happened {text}?", user_names=[], now=NOW).between
    assert between
    assert (between[0].date(), between[1].date()) == (first, last)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("in March, not yesterday", date(2026, 3, 1)),
        ("yesterday, not in March", date(2026, 11, 21)),
        ("in 2024 or last week", date(2024, 1, 1)),
        ("May I ask: yesterday, or in 2024?", date(2026, 11, 21)),
        ("last March", date(2026, 3, 1)),
        ("in March 2024", date(2024, 3, 1)),
        ("in October last year", date(2025, 1, 1)),
        ("in March two years ago", date(2024, 5, 23)),
    ],
)
def test_the_first_time_in_the_text_counts(text: str, first: date) -> None:
    between = read_question(text, user_names=[], now=NOW).between
    assert between
    assert between[0].date() == first


@pytest.mark.parametrize("text", ["", "May I ask?", "31 February 2023", "in 0000", "99999 years ago"])
def test_what_names_no_days_prefers_none(text: str) -> None:
    assert read_question(text, user_names=[], now=NOW).between is None


@pytest.mark.parametrize("text", ["When did we meet?", "How long did it take?", "What year was it?"])
def test_a_question_for_a_time_is_one(text: str) -> None:
    assert read_question(text, user_names=[], now=NOW).asks_when


def test_two_weeks_ago_has_a_margin() -> None:
    between = read_question("two weeks ago", user_names=[], now=NOW).between
    assert between
    assert between[0].date() < date(2026, 11, 8) < between[1].date()


LOOKALIKES = ("ſ", "K", "İ", "ı", "ﬆ", "ß", "０", "٣")
TIMES = (
    "last sunday",
    "this week",
    "last ſummer",
    "two weeks ago",
    "couple of years ago",
    "in august",
    "3 may 2024",
)


@pytest.mark.parametrize("lookalike", LOOKALIKES)
def test_letters_that_only_look_like_those_of_a_time_are_read_without_an_error(lookalike: str) -> None:
    for text in TIMES:
        for place in range(len(text)):
            read_question(text[:place] + lookalike + text[place + 1 :], user_names=[], now=NOW)


def test_a_long_s_is_an_s() -> None:
    between = read_question("What happened laſt Sunday?", user_names=[], now=NOW).between
    assert between
    assert between[0].date() == date(2026, 11, 15)


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("What did Ada Byron say about Ada’s sister?", "What did I say about my sister?"),
        ("What did you suggest against my nerves, Sage?", "What did I suggest against my nerves, I?"),
        ("Please remind me what I told you", "what I told you"),
        ("Where does Adam live?", "Where does Adam live?"),
    ],
)
def test_a_question_is_encoded_in_the_first_person_of_who_is_asked_about(text: str, encoded: str) -> None:
    assert read_question(text, user_names=["Ada", "Byron"], now=NOW).in_first_person == encoded
