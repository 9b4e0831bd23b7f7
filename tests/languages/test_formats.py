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

CODES = [code for code, _ in settings.LANGUAGES]


def formats_of(code: str) -> ModuleType:
    return import_module(f"{settings.FORMAT_MODULE_PATH}.{code}.formats")


def names_in(module: ModuleType) -> set[str]:
    return {name for name in vars(module) if re.fullmatch("[A-Z_]+", name)}


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
    templates = Path(__file__).parents[2] / "templates"
    pages = [path for path in templates.rglob("*.*") if "admin" not in path.parts]
    for page in pages:
        used = re.findall(r"""\|(?:date|time):["']([^"']+)["']""", page.read_text(encoding="utf-8"))
        assert set(used) <= named, page
