"""Dates as letters write them, held against the Unicode CLDR, which Babel brings."""

import random
import time
from datetime import date, timedelta

import pytest
from babel import Locale
from babel.dates import format_date
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.library.calendar_words import MONTHS, folded
from coaching.library.dates import DateOrder, dates_meant, order_of_dates, words_meaning
from coaching.library.evidence import Claim, Source, checked
from tests.patience import is_quick
from tests.thoroughness import examples

LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "ru", "tr", "pl", "uk", "nl", "sv", "da", "nb")
REGIONS = ("en_GB", "en_AU", "de_AT", "de_CH", "es_MX", "fr_CA", "pt_PT", "nl_BE")
MONTH_FIRST = ("en",)
"""Locales whose numeric dates begin with the month."""
DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2049, 12, 31))
SKELETONS = ("d. MMMM y", "EEEE, d MMMM y", "dd-MMM-y", "d/MMM/y", "y/MM/dd", "y-MM-dd", "ddMMMMy")
CANDIDATE_SECONDS = 0.05


@pytest.mark.parametrize("code", [*LANGUAGES, *REGIONS])
def test_every_form_of_a_month_in_the_cldr_is_known(code: str) -> None:
    months = Locale.parse(code).months
    said = {
        (folded(name).removesuffix("."), number)
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in months[context][width].items()
    }
    assert {(name, MONTHS.get(name)) for name, _ in said} == said


@pytest.mark.parametrize("code", [*LANGUAGES, *REGIONS])
@settings(max_examples=examples(100), deadline=None)
@given(day=DAYS)
def test_what_babel_writes_is_read_as_the_same_day(code: str, day: date) -> None:
    order: DateOrder = "month" if code in MONTH_FIRST else "day"
    for style in ("full", "long", "medium", *SKELETONS):
        written = format_date(day, style, locale=code)
        for form in (written, written.upper(), f"({written})", f"x {written}, y"):
            assert dates_meant(form, order=order) == {day}, form
    short = format_date(day, "short", locale=code)
    assert day in dates_meant(short, order=order), short


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("31-Mar-2027", "2027-03-31"), ("31/Mar/27", "2027-03-31"), ("31MAR2027", "2027-03-31"),
        ("2027/03/31", "2027-03-31"), ("2027.03.31", "2027-03-31"), ("31.3.27", "2027-03-31"),
        ("31. 3. 2027", "2027-03-31"), ("2027年3月31日", "2027-03-31"), ("2027년 3월 31일", "2027-03-31"),
        ("1er avril 2027", "2027-04-01"), ("1º de abril de 2027", "2027-04-01"),
        ("1.º de abril de 2027", "2027-04-01"), ("1° aprile 2027", "2027-04-01"),
        ("31:a mars 2027", "2027-03-31"),
        ("1-го апреля 2027 г.", "2027-04-01"),
        ("1-go kwietnia 2027 r.", "2027-04-01"), ("den 1. Maerz 2027", "2027-03-01"),
        ("30 HAZİRAN 2027", "2027-06-30"),
        ("31 mar '27", "2027-03-31"), ("mar. 31 mars 2027", "2027-03-31"),
        ("Mittwoch, den 31. März 2027", "2027-03-31"),
        ("31\u00a0marzo\u202f2027", "2027-03-31"), ("31 de marzo del 2027", "2027-03-31"),
        ("12.–14. März 2027", "2027-03-14"), ("31. Ma\u0308rz 2027", "2027-03-31"),
        ("3 March/10 April", None),
        ("31 June 2027", None), ("20270331", None), ("192.168.10.27", None), ("2 Mars", None),
        ("31. 2027", None),
    ],
)  # fmt: skip
def test_other_written_forms(words: str, day: str | None) -> None:
    assert dates_meant(words) == ({date.fromisoformat(day)} if day else set())


def test_a_year_of_two_digits_far_away_may_be_of_two_centuries() -> None:
    assert dates_meant("31.3.85") == {date(1985, 3, 31), date(2085, 3, 31)}
    assert dates_meant("31.3.45") == {date(1945, 3, 31), date(2045, 3, 31)}
    assert dates_meant("31.3.27") == {date(2027, 3, 31)}


def test_a_year_of_two_digits_after_a_month_is_not_left_out() -> None:
    spoken_on = date(2027, 1, 1)
    for words in ("31 March 28", "31. März 28", "March 31, 28"):
        assert dates_meant(words, spoken_on=spoken_on) == set(), words
    for words in ("31 March at 10", "March 31, 10:30", "31 March 10am"):
        assert dates_meant(words, spoken_on=spoken_on) == {date(2027, 3, 31)}, words


@pytest.mark.parametrize("words", ["٣١/٠٣/٢٠٢٧", "३१.०३.२०२७", "๓๑/๐๓/๒๕๗๐", "۳۱ مارس ۲۰۲۷", "፴፩.፫.2027"])
def test_dates_in_digits_of_other_scripts_are_not_read(words: str) -> None:
    assert dates_meant(words, order="day") == set()


def test_the_words_of_a_day_are_those_of_the_text() -> None:
    text = "Zahlbar bis Mittwoch, den 31.\u00a0März 2027, sonst fällig am 1.4.2027."
    assert words_meaning(text, date(2027, 3, 31)) == "31. März 2027"
    assert words_meaning(text, date(2027, 4, 1)) == "1.4.2027"
    assert words_meaning(text, date(2027, 4, 2)) == ""


OPEN = (
    "The rent is due on {} and the tenant is to pay it by post.",
    "El alquiler vence el {}. The rent is due on {} and you are to pay it in time.",
    "Due {}",
)


def test_of_a_hundred_ambiguous_dates_none_is_guessed() -> None:
    chosen = random.Random(28)
    pairs = [(first, second) for first in range(1, 13) for second in range(1, 13) if first != second]
    for number, (first, second) in enumerate(chosen.sample(pairs, 100)):
        written = f"{first:02}{'/-'[number % 2]}{second:02}{'/-'[number % 2]}2027"
        text = OPEN[number % len(OPEN)].format(written, written)
        source = Source(text)
        passage = source.find(text)
        assert passage
        for day in (date(2027, first, second), date(2027, second, first)):
            claim = Claim(quote=text, due_words=written, due_date=day)
            found = checked(claim, source=source, spoken_on=date(2027, 1, 1))
            assert found
            assert found.due_date is None
            assert source.words_of_day(day, passage) == ""
            for value in (day.isoformat(), f"{day:%d %B %Y}", f"{day:%d.%m.%Y}"):
                assert source.bears_out(value, text) is None
        assert source.bears_out(written, text)


@pytest.mark.parametrize(
    "text",
    [
        "Die Miete ist am {} fällig und wir bitten Sie, sie nicht bar zu zahlen.",
        "El alquiler vence el {} y se paga por transferencia a la cuenta de siempre.",
        "Le loyer est payable le {} et nous vous prions de le régler dans les délais.",
        "O aluguel vence em {} e deve ser pago na conta do proprietário.",
        "Il canone scade il {} e va pagato per intero con bonifico alla proprietaria.",
        "De huur is op {} te betalen en wij verzoeken u het bedrag niet contant te voldoen.",
        "Czynsz jest płatny do {} i prosimy o przelew na konto w banku.",
        "Hyran ska betalas den {} och vi ber er att inte betala kontant till oss.",
        "Kira {} tarihinde ödenir ve bu tutar size ait hesap için banka ile ödenecektir.",
        "Арендная плата вносится до {} и вы не должны платить на карту.",
        "Орендна плата вноситься до {} і ви не повинні платити на картку.",
    ],
)
def test_other_languages_than_english_decide_what_a_date_begins_with(text: str) -> None:
    source = Source(text.format("03/04/2027"))
    passage = source.find(source.text)
    assert passage
    assert source.words_of_day(date(2027, 4, 3), passage) == "03/04/2027"
    assert source.words_of_day(date(2027, 3, 4), passage) == ""


def test_a_text_in_english_and_another_language_decides_nothing() -> None:
    both = (
        "The rent is due on 03/04/2027. El alquiler vence el 03/04/2027 y se paga. You are to pay it in time."
    )
    assert order_of_dates(both) is None


HOSTILE = (
    "1", "1.", "1 ", "1/", "31-mar", "31 mar ", "mar. 31", "2027", "2027/03/", "31.3.27", "1 de ", "1.1.",
    "a",     "marzo", "'27", "１", "年1月", "1st of ", "\u0301", "İ", "within 30 days ", "31 march 2027 ",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_candidate_takes_long(unit: str) -> None:
    text = (unit * 1_000)[:1_000]
    source = Source(f"Berlin, 3. März 2027\n\n{text}")
    passage = source.find(text)
    began = time.process_time()
    if passage:
        source.words_of_day(date(2027, 3, 31), passage)
    source.bears_out("31 March 2027", text)
    dates_meant(text, spoken_on=date(2027, 1, 1))
    assert is_quick(time.process_time() - began, 3 * CANDIDATE_SECONDS)


@given(words=st.text(alphabet="0123456789./-, 'marMÄzоя年月日İº", max_size=60))
def test_nothing_breaks_the_reading_of_dates(words: str) -> None:
    found = dates_meant(words, spoken_on=date(2027, 1, 1))
    assert all(date(1900, 1, 1) <= day <= date(2200, 12, 31) + timedelta(days=40_000) for day in found)
