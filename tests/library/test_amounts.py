"""Amounts by meaning, held against the Unicode CLDR, which Babel brings."""

from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import format_currency, format_decimal
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.library.amounts import decimal_mark
from coaching.library.evidence import Source
from coaching.library.values import stands_in
from tests.library.test_dates import LANGUAGES, REGIONS
from tests.thoroughness import examples

AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("99999999.99"), places=2)
LOCALES = (*LANGUAGES, *REGIONS, "hi_IN@numbers=latn", "en_IN")


@pytest.mark.parametrize("code", [*LANGUAGES, *REGIONS, "en_IN"])
@settings(max_examples=examples(100), deadline=None)
@given(
    amount=AMOUNTS, currency=st.sampled_from(["EUR", "USD", "GBP", "PLN", "TRY", "RUB", "UAH", "INR", "CHF"])
)
def test_what_babel_writes_is_the_same_amount(code: str, amount: Decimal, currency: str) -> None:
    written = format_currency(amount, currency, locale=code)
    plain = f"{amount} {currency}"
    for sign, value in (("", plain), ("-", f"-{plain}")):
        assert stands_in(value, f"x: {sign}{written} y"), (value, sign + written)
    assert not stands_in(f"{amount + 1} {currency}", written)
    assert not stands_in(f"-{plain}", written)
    assert not stands_in(f"{amount} SEK", written)


@pytest.mark.parametrize("code", [*LANGUAGES, *REGIONS])
@settings(max_examples=examples(100), deadline=None)
@given(whole=st.integers(min_value=1_000, max_value=999_999_999))
def test_a_whole_number_is_grouped_by_its_texts_mark_or_nowhere(code: str, whole: int) -> None:
    written = format_decimal(whole, locale=code)
    mark = Locale.parse(code).number_symbols["latn"]["decimal"]
    assert stands_in(str(whole), written, mark=mark)
    assert stands_in(written, written)
    if whole < 1_000_000 and ("." in written or "," in written):
        assert not stands_in(str(whole), written)
        assert not stands_in(f"{whole / 1_000:.4f}", written)


@pytest.mark.parametrize(
    ("value", "sentence", "text", "stands"),
    [
        ("1234", "Betrag: 1.234 €", "Wir bitten Sie, den Betrag auf das Konto zu zahlen.", True),
        ("1.234", "Betrag: 1.234 €", "Wir bitten Sie, den Betrag auf das Konto zu zahlen.", True),
        ("1,234", "Betrag: 1.234 €", "Wir bitten Sie, den Betrag auf das Konto zu zahlen.", False),
        ("1234", "Amount: 1,234 GBP", "You are to pay the sum of it to the account.", True),
        ("1234", "Amount: 1.234 GBP", "You are to pay the sum of it to the account.", False),
        ("1234", "Price per litre 1.234 EUR", "", False),
        ("1234", "Total 1.234 EUR", "Also 12.345,60 EUR.", True),
        ("1234", "Total 1.234 EUR", "Also 12,345.60 EUR.", False),
        ("1234", "Total 1.234 EUR", "Also 12,345.60 EUR and 12.345,60 EUR.", False),
        ("1234", "Son 1.234 EUR", "El importe se paga en la cuenta que usted tiene para el alquiler.", False),
    ],
)
def test_an_ambiguous_grouping_is_decided_by_the_text_or_left_open(
    value: str, sentence: str, text: str, stands: bool
) -> None:
    assert bool(Source(f"{sentence}\n{text}").bears_out(value, sentence)) == stands


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("123456.50 INR", "Rs. 1,23,456.50"), ("₹ 1,23,456", "123456 rupees"), ("INR 500000", "₹ 5 lakh"),
        ("CHF 1234.50", "CHF 1’234.50"), ("500 zł", "500 złotych"), ("500 RUB", "500 рублей"),
        ("500000 UAH", "500 тис. грн"), ("5000000 EUR", "5 millones de euros"), ("500 EUR", "500 Euro"),
        ("CAD 500", "C$500"), ("-500 EUR", "EUR (500)"), ("-1234.56", "Ergebnis: (1.234,56)"),
        ("-1234.56 EUR", "1.234,56- EUR"), ("30", "thirty (30) days"),
        ("15000 EUR", "fifteen thousand euros (EUR 15,000.00)"),
        ("500,- €", "500 €"), ("5 Mio. €", "5.000.000 €"), ("₺500", "500 TL"),
    ],
)  # fmt: skip
def test_an_amount_stands_there_by_its_meaning(value: str, sentence: str) -> None:
    assert stands_in(value, sentence)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("USD 500", "C$500"), ("SEK 500", "500 kr"), ("500 EUR", "EUR (500)"),
        ("1,234.56", "Net loss (1,234.56)"), ("-€500", "€300-€500"),
        ("-1,234.56", "Net loss (1,234.56)"), ("1234", "1.234"), ("1.234", "1,234"), ("12", "1'2"),
        ("123456", "1,23,45"), ("EUR 500", "TRY 500"), ("try again", "again"), ("15", "1 5"),
    ],
)  # fmt: skip
def test_another_amount_does_not(value: str, sentence: str) -> None:
    assert not stands_in(value, sentence)


def test_the_decimal_mark_of_a_text_is_that_of_its_clear_amounts() -> None:
    assert decimal_mark("Total 1.234,56 and 12,50 €") == ","
    assert decimal_mark("Total 1,234.56") == "."
    assert decimal_mark("1.234.567 Stück") == ","
    assert decimal_mark("Version 1.234 at 10.30 on 31.03.2027") is None
