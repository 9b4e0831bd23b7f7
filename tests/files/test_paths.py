"""Paths consist of closed sets, whatever a name contains."""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coaching.files.errors import FileRefused
from coaching.files.paths import build_path, path_of_stored
from coaching.files.types import RULES
from coaching.models import FileType, LifeDomain

NOW = datetime(2026, 11, 21, 1, 30, 7, tzinfo=UTC)
AUCKLAND = ZoneInfo("Pacific/Auckland")


def places_of(naming: str) -> str:
    """Return a pattern for the places of all types with this naming."""
    return "|".join(rule.place.removesuffix(".md") for rule in RULES.values() if rule.naming == naming)


SAFE = re.compile(
    r"(life-map/(career|relationships|health|finances|learning|creativity|play|meaning)"
    rf"|{places_of('fixed')}|({places_of('date')})/\d{{4}}-\d\d-\d\d"
    r"|captures/\d{4}-\d\d-\d\d-\d{6}"
    rf"|({places_of('slug')})/\d{{4}}-\d\d-\d\d-[a-z0-9]+(-[a-z0-9]+)*)\.md",
    re.ASCII,
)
HOSTILE_NAMES = [
    "../career",
    "..\\career",
    "career/../../etc/passwd",
    "%2e%2e%2fcareer",
    "%252e%252e%252f",
    "..%c0%af",
    "．．／career",
    "‥/career",
    "∕etc∕passwd\u2215..",
    "career\x00",
    "career\x00.md",
    "career.md",
    "Career",
    " career",
    "career ",
    "career\n",
    "саreer",
    "ｃａｒｅｅｒ",
    "car\u200beer",
    "\u202ereerac",
    "\ud800",
    "/career",
    "~/career",
    "C:career",
    "career:stream",
    "con/",
    ".",
    "..",
    "...",
    "a" * 256,
    "a/" * 200,
]
FIXED = {
    FileType.OVERVIEW: "life-map/_overview.md",
    FileType.LIFE_PLAN: "life-plan/current.md",
    FileType.WEEKLY_PLAN: "life-plan/weekly.md",
    FileType.SAGE_CONTEXT: "sage/context.md",
    FileType.SAGE_PATTERNS: "sage/patterns.md",
}


def path(file_type: FileType, name: str | None = None, body: str = "What mattered?") -> str:
    return build_path(file_type, name, body=body, now=NOW, timezone=AUCKLAND).text()


def test_every_type_has_the_path_of_the_specification() -> None:
    assert {file_type: path(file_type) for file_type in FIXED} == FIXED
    for domain in LifeDomain.values:
        assert path(FileType.DOMAIN, domain) == f"life-map/{domain}.md"
    # 01:30 UTC is half past two in the afternoon in Auckland.
    assert path(FileType.CHECK_IN) == "check-ins/2026-11-21.md"
    assert path(FileType.DAILY_LOG) == "daily-logs/2026-11-21.md"
    assert path(FileType.DAY_PLAN) == "day-plans/2026-11-21.md"
    assert path(FileType.CAPTURE) == "captures/2026-11-21-143007.md"
    assert path(FileType.REFLECTION_PROMPT) == "reflections/2026-11-21-what-mattered.md"
    assert set(RULES) == set(FileType)


def test_a_capture_at_night_is_of_the_day_before() -> None:
    night = build_path(FileType.CAPTURE, None, body="x", now=NOW, timezone=ZoneInfo("UTC"))
    assert night.text() == "captures/2026-11-20-013007.md"
    assert night.text(suffix=2) == "captures/2026-11-20-013007-2.md"


@pytest.mark.parametrize("file_type", [FileType.CHECK_IN, FileType.DAILY_LOG, FileType.DAY_PLAN])
def test_a_date_may_be_given_within_a_sane_range(file_type: FileType) -> None:
    assert path(file_type, "2026-11-20").endswith("/2026-11-20.md")
    today = date(2026, 11, 21)
    ahead = today + timedelta(days=RULES[file_type].days_ahead)
    assert path(file_type, ahead.isoformat()).endswith(f"/{ahead}.md")
    for wrong in (ahead + timedelta(days=1), today - timedelta(days=RULES[file_type].days_back + 1)):
        with pytest.raises(FileRefused, match=r"from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d"):
            path(file_type, wrong.isoformat())


@pytest.mark.parametrize(
    "name", ["2026-13-01", "2026-02-30", "20261121", "2026-W47-6", "today", "２０２６-11-21"]
)
def test_what_is_not_a_date_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(FileRefused, match="must be a date like 2026-11-21"):
        path(FileType.DAILY_LOG, name)


@pytest.mark.parametrize("file_type", [*FIXED, FileType.CAPTURE])
def test_a_type_without_a_name_refuses_one_and_says_so(file_type: FileType) -> None:
    with pytest.raises(FileRefused, match=f"The type {file_type} takes no file_name"):
        path(file_type, "career")
    assert path(file_type, "") == path(file_type)


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, None, ""])
def test_a_domain_that_is_not_one_of_eight_is_refused_and_they_are_named(name: str | None) -> None:
    with pytest.raises(FileRefused, match="must be one of career, relationships, health"):
        path(FileType.DOMAIN, name)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_refused_or_becomes_a_plain_slug(name: str) -> None:
    try:
        built = path(FileType.REFLECTION_PROMPT, name)
    except FileRefused:
        return
    assert SAFE.fullmatch(built)


@pytest.mark.parametrize(
    "name", [name for name in HOSTILE_NAMES if any(c in name for c in "/\\%\x00\u202e\ud800") or ".." in name]
)
def test_a_title_that_tries_to_leave_is_refused(name: str) -> None:
    with pytest.raises(FileRefused, match="short title"):
        path(FileType.REFLECTION_PROMPT, name)


@given(
    st.sampled_from(FileType),
    st.none() | st.text(st.characters(codec=None), max_size=300),
    st.text(st.characters(codec=None), max_size=300),
)
@example(FileType.REFLECTION_PROMPT, None, "ﷺ" * 300)
@example(FileType.REFLECTION_PROMPT, None, "今日はどうでしたか")
@example(FileType.REFLECTION_PROMPT, "con", "")
def test_no_name_and_no_body_leads_outside_the_known_paths(
    file_type: FileType, name: str | None, body: str
) -> None:
    try:
        built = path(file_type, name, body)
    except FileRefused:
        return
    assert SAFE.fullmatch(built), built
    assert len(built) <= 120
    assert path(file_type, name, body) == built


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_prompts_in_other_scripts_get_different_names(first: str, second: str) -> None:
    names = [
        build_path(FileType.REFLECTION_PROMPT, None, body=body, now=NOW, timezone=AUCKLAND).stem
        for body in ("あ" + first, "あ" + second)
    ]
    if all("prompt-" in name for name in names):
        assert (names[0] == names[1]) == (first == second)


def test_the_path_of_a_stored_file_knows_its_day() -> None:
    stored = path_of_stored(FileType.DAY_PLAN, "day-plans/2026-11-02.md", now=NOW, timezone=AUCKLAND)
    assert (stored.text(), stored.day.isoformat()) == ("day-plans/2026-11-02.md", "2026-11-02")
    assert not path_of_stored(FileType.CAPTURE, "captures/x-2.md", now=NOW, timezone=AUCKLAND).is_always_new
