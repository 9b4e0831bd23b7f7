"""Dates, times and numbers in the languages of the pages."""

import re
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings
from django.utils.formats import date_format, number_format
from django.utils.translation import override

ROOT = Path(__file__).parents[2]
DAYS_DESPITE_THEIR_NAMES = {'unread_since|date:"'}
CODES = [code for code, _ in settings.LANGUAGES]


def formats_of(code: str) -> ModuleType:
    return import_module(f"{settings.FORMAT_MODULE_PATH}.{code}.formats")


def names_in(module: ModuleType) -> set[str]:
    return {name for name in vars(module) if re.fullmatch("[A-Z_]+", name)}


def pages_of_people() -> list[Path]:
    return [path for path in (ROOT / "templates").rglob("*.*") if "admin" not in path.parts]


@pytest.mark.parametrize("code", CODES)
def test_each_language_has_every_format(code: str) -> None:
    assert names_in(formats_of(code)) == names_in(formats_of("en"))


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("en", "WEEKDAY_DATE_FORMAT", "Thursday, 5 March 2026"),
        ("de", "WEEKDAY_DATE_FORMAT", "Donnerstag, 5. März 2026"),
        ("es", "WEEKDAY_DATE_FORMAT", "jueves, 5 de marzo de 2026"),
        ("en", "DATETIME_FORMAT", "5 March 2026, 15:04"),
        ("de", "SHORT_DAY_TIME_FORMAT", "5. März, 15:04"),
        ("es", "MONTH_DAY_FORMAT", "5 de marzo"),
    ],
)
def test_a_moment_is_written_as_its_language_does(code: str, name: str, expected: str) -> None:
    with override(code):
        assert date_format(datetime(2026, 3, 5, 15, 4), name) == expected  # noqa: DTZ001 - a local time


@pytest.mark.parametrize(
    ("code", "expected"), [("en", "1,234.5"), ("de", "1.234,5"), ("es", "1\N{NO-BREAK SPACE}234,5")]
)
def test_a_number_is_written_as_its_language_does(code: str, expected: str) -> None:
    with override(code):
        assert number_format(1234.5, force_grouping=True) == expected


def test_no_page_writes_dates_by_a_pattern() -> None:
    named = {*names_in(formats_of("en")), "c", "e", "Y-m", "Y-m-d", "F", "M", "D", "l"}
    for page in pages_of_people():
        used = re.findall(r"""\|(?:date|time):["']([^"']+)["']""", page.read_text(encoding="utf-8"))
        assert set(used) <= named, page


def test_pages_show_moments_on_the_persons_day() -> None:
    for page in pages_of_people():
        if "mail" in page.parts:  # their moments name a zone
            continue
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"\|timezone:|\|localtime|\|utc\b|\{% (?:localtime|timezone|now)\b", text), page
        moments = re.findall(r"""\b(?:\w+_at|at|moment|\w+_since|\w+_until)\|date:["'](?!c["'])""", text)
        assert set(moments) <= DAYS_DESPITE_THEIR_NAMES, page


def test_code_reads_the_date_of_a_moment_by_the_rule_for_days() -> None:
    """`local_day` and `local_moment`; `.date()` of a local time is the calendar's day."""
    by_calendar = re.compile(
        r"\.astimezone\((?:[^()]|\([^()]*\))*\)(?:\.date\(\)|:%)|\blocal(?:date|time)\("
        r"|\blocal_now\([^()]*\)\.date\("
    )
    for module in (ROOT / "coaching").rglob("*.py"):
        if module.parts[-2] not in ("clock", "migrations") and "admin" not in module.parts:
            assert not by_calendar.findall(module.read_text(encoding="utf-8")), module
