"""A model that invents gets nothing stored: quotes, names and dates are held against the text."""

from collections.abc import Sequence
from datetime import date

import pytest

from coaching.library.dates import dates_meant
from coaching.library.evidence import Claim, Source, checked, is_named, verbatim

WEDNESDAY = date(2026, 11, 18)
TALK = (
    "Priya Shah: I\u2019ll send the signed lease by next Friday.\n"
    "Tom: Perhaps we could look at the roof some time.\f"
    "Tom: The deposit of £4,000 is due on 3 December 2026,\n   as we said."
)


def test_what_the_text_says_is_kept() -> None:
    claim = Claim(
        quote="I’ll send the signed lease by next Friday.",
        owner="Priya Shah",
        due_words="by next Friday",
        due_date=date(2026, 11, 27),
    )
    found = checked(claim, source=Source(TALK), spoken_on=WEDNESDAY)
    assert found
    assert (found.page, found.owner, found.due_words, found.due_date) == (
        1, "Priya Shah", "by next Friday", date(2026, 11, 27),
    )  # fmt: skip


def test_a_relative_date_needs_the_day_of_the_meeting() -> None:
    claim = Claim(
        quote="send the signed lease by next Friday", due_words="next Friday", due_date=date(2026, 11, 27)
    )
    found = checked(claim, source=Source(TALK))
    assert found
    assert (found.due_words, found.due_date) == ("next Friday", None)


@pytest.mark.parametrize(
    ("quote", "owner", "due_words", "due_date"),
    [
        ("as we said", "Eve", "on 4 December 2026", date(2026, 12, 4)),  # words that aren't there
        ("as we said.", "Mr", "on 3 December 2026", date(2026, 12, 4)),  # another day than the words say
        ("The deposit of £4,000 is due", "", "", date(2026, 12, 3)),  # no words at all
    ],
)
def test_what_the_text_does_not_say_is_left_out(
    quote: str, owner: str, due_words: str, due_date: date
) -> None:
    found = checked(
        Claim(quote=quote, owner=owner, due_words=due_words, due_date=due_date),
        source=Source(TALK),
        spoken_on=WEDNESDAY,
    )
    assert found
    assert (found.page, found.owner, found.due_date) == (2, "", None)


@pytest.mark.parametrize("quote", ["", "lease", "We should look at the roof some time.", "\f" * 9])
def test_without_a_quote_that_stands_there_nothing_is_kept(quote: str) -> None:
    assert checked(Claim(quote=quote), source=Source(TALK)) is None


def test_only_white_space_and_the_coding_of_accents_may_differ() -> None:
    assert verbatim("The cafe\u0301 is\n  let.", "“caf\u00e9 is let.”") == "caf\u00e9 is let."
    assert verbatim("The cafe is let", "The Cafe is let") == ""


def page_of(text: str, quote: str, pages_read: Sequence[int] = ()) -> int | None:
    found = Source(text, pages_read=pages_read).find(quote)
    return found.page if found else None


def test_pages_are_those_of_the_document() -> None:
    assert page_of("one\ftwo begins\fand ends", "two begins and ends", [1, 7, 9]) == 7
    assert page_of("one\ftwo begins", "two begins", [1, 7]) == 7
    assert page_of("one begins", "one begins") is None
    assert page_of("one\ftwo", "three begins") is None


def test_a_quote_keeps_the_full_stop_that_the_text_has() -> None:
    found = Source("Damp was found. Nothing else.").find("“damp was found.”")
    assert found
    assert found.quote == "Damp was found."


def test_an_owner_is_named_by_first_or_last_name() -> None:
    assert is_named(TALK, "Ms Shah")
    assert is_named(TALK, "Tom Miller")
    assert not is_named(TALK, "Dr")
    assert not is_named("Tommy said so", "Tom")


ENGLISH = "The rent is due on 03/04/2027 and the tenant is to pay it by post."
GERMAN = "Die Miete ist am 03/04/2027 fällig und wir bitten Sie, sie nicht bar zu zahlen."


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (ENGLISH, None),
        (f"{ENGLISH} Signed 25/12/2026.", date(2027, 4, 3)),
        (f"{ENGLISH} Signed 12/25/2026.", date(2027, 3, 4)),
        (f"{ENGLISH} Signed 12/25/2026, sent 26/12/2026.", None),
        (GERMAN, date(2027, 4, 3)),
        (f"{GERMAN} Gezeichnet 12/25/2026.", date(2027, 3, 4)),
        (ENGLISH.replace("/", "."), date(2027, 4, 3)),
    ],
)
def test_the_order_of_a_date_is_that_of_the_documents_other_dates_or_language(
    text: str, day: date | None
) -> None:
    source, quote = Source(text), text[: text.index("2027") + 4]
    written = "03.04.2027" if "." in text[:30] else "03/04/2027"
    for other in (date(2027, 4, 3), date(2027, 3, 4)):
        assert bool(source.bears_out(other.isoformat(), quote)) == (other == day)
        claim = Claim(quote=quote, due_words=written, due_date=other)
        found = checked(claim, source=source)
        assert found
        assert found.due_date == (other if other == day else None)
        passage = source.find(quote)
        assert passage
        assert source.words_of_day(other, passage) == (written if other == day else "")


@pytest.mark.parametrize(
    ("words", "is_stated"),
    [
        ("The rent of Ann Berg rises to EUR 900", True),
        ("Ann Berg's rent", True),
        ("From 1 March 2027: €900", True),
        ("Pay Tom", False),
        ("It belongs to Ann Holt", False),
        ("The rent is EUR 950", False),
        ("The rent is USD 900", False),
        ("From April 2027 on, on 1 April 2027", False),
        ("Rent for 30days", False),
        ("Rent 9000/900", False),
        ("Rent ٩٠٠٠", False),
        ("Invoice №9000", False),
        ("flat 2b", False),
        ("家賃は9000円", False),
        ("家賃は900円、2027年", True),
        ("900/month", True),
    ],
)
def test_words_state_a_passage_with_its_dates_numbers_and_names_only(words: str, is_stated: bool) -> None:
    source = Source("From 01.03.2027 Ann Berg pays EUR 900 a month. Tom Holt agrees.")
    passage = source.find("From 01.03.2027 Ann Berg pays EUR 900 a month.")
    assert passage
    assert source.states(words, passage) == is_stated


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("2026-12-03", {"2026-12-03"}),
        ("on the 3rd of December, 2026", {"2026-12-03"}),
        ("Dec. 3, 2026", {"2026-12-03"}),
        ("03/12/2026", {"2026-12-03", "2026-03-12"}),
        ("03.12.2026", {"2026-12-03"}),
        ("by 1 March", {"2027-03-01"}),
        ("tomorrow", {"2026-11-19"}),
        ("the day after tomorrow", {"2026-11-20"}),
        ("within two weeks", {"2026-12-02"}),
        ("in 3 months", {"2027-02-18"}),
        ("on Monday", {"2026-11-23"}),
        ("next Friday", {"2026-11-20", "2026-11-27"}),
        ("by the end of the month", {"2026-11-30"}),
        ("end of next week", {"2026-11-27", "2026-11-29"}),
        ("by year-end", {"2026-12-31"}),
        ("soon", set()),
        ("2026-13-40 or 31 February 2027", set()),
    ],
)
def test_days_that_words_may_mean(words: str, days: set[str]) -> None:
    found = {str(day) for day in dates_meant(words, spoken_on=WEDNESDAY)}
    assert days <= found
    assert "week" in words or found == days


def test_without_the_day_of_speaking_only_whole_dates_mean_a_day() -> None:
    assert dates_meant("tomorrow, on Friday, by 1 March or in two weeks") == frozenset()
    assert dates_meant("1 March 2027") == {date(2027, 3, 1)}
