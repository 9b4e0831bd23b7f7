"""A pytest plugin: what each test needs beside itself. It has one tier, by the place of its file.

`-m pure` starts no server, and hardly a process. A file of tiers that `-m` leaves out isn't even imported.
"""

from pathlib import Path
from typing import Literal, get_args

import pytest
from _pytest.mark.expression import Expression

Tier = Literal["pure", "db", "browser", "faults"]
TIERS: tuple[Tier, ...] = get_args(Tier)
TESTS = Path(__file__).parent

# Folders, and files without `.py`. What isn't named may use the database and start processes.
_PURE = """
    architecture/test_children architecture/test_connections architecture/test_parsing
    architecture/test_pictures architecture/test_requirements architecture/test_texts
    architecture/test_tiers architecture/test_tool_names calendar/test_fetch context/test_closeness
    context/test_fences context/test_window engine files/test_days files/test_frontmatter files/test_paths
    files/test_permissions files/test_tasks languages/test_catalogues languages/test_formats
    languages/test_notices legacy/test_bounded legacy/test_export_shapes legacy/test_formats legacy_text
    library/documents/test_reasons library/extractors/test_hostile_mails
    library/pipeline/test_normalised_text library/references/test_placement
    library/references/test_reference_files library/references/test_selection library/test_evidence
    library/test_planted_facts life/test_drawing life/test_levels life/test_words live/test_live
    model/test_model_client pages/test_code_colours patterns practice recall/test_excerpts
    recall/test_question safety sage/test_ending sage/test_env sage/test_mail_pages sage/test_origin
    sandbox/test_blocks sessions_app/test_english sessions_app/test_money sessions_app/test_refusals
    skills/test_check skills/test_prompt_rules skills/test_signals skills/test_texts sockets/test_streamed
    tools/test_help_lines_never_wait tools/test_show_options turns/test_words
"""
PLACES: dict[str, Tier] = {
    **dict.fromkeys(_PURE.split(), "pure"),
    "safety/test_help_lines": "db",
    "practice/test_command": "db",
    "browser": "browser",
    "faults": "faults",
}

DATABASE_FIXTURES = frozenset(
    {"db", "django_db_setup", "live_server", "transactional_db", "transactional_db_or_db"}
)
"""The other fixtures that need the database need one of these."""


def tier_of(path: Path) -> Tier:
    """Return the tier of a test file, or of a folder's files that aren't named: the nearest place decides."""
    place = path.relative_to(TESTS).with_suffix("")
    return next((PLACES[name] for name in map(str, [place, *place.parents]) if name in PLACES), "db")


def tiers_below(folder: Path) -> frozenset[Tier]:
    """Return the tiers that files of a folder may have."""
    start = f"{folder.relative_to(TESTS)}/"
    return frozenset({tier_of(folder)} | {tier for name, tier in PLACES.items() if name.startswith(start)})


def refuse_database(item: pytest.Item) -> None:
    """Fail if a test asks for the database by a mark or a fixture.

    pytest-django refuses every query of a test that doesn't ask.
    """
    asked = DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    if asked or item.get_closest_marker("django_db"):
        pytest.fail(
            f"{item.path.relative_to(TESTS)} is in the tier `pure`, and this test asks for the database: "
            "move it to another file, or change the file's tier in tests/tiers.py.",
            pytrace=False,
        )


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files and folders without a test that `-m` selects, if it names only tiers."""
    if not collection_path.is_relative_to(TESTS) or collection_path == TESTS:
        return None
    wanted = wanted_tiers(config.getoption("markexpr"))
    is_folder = collection_path.is_dir()
    possible = tiers_below(collection_path) if is_folder else {tier_of(collection_path)}
    return None if wanted & possible else True


def wanted_tiers(expression: str) -> frozenset[Tier]:
    """Return the tiers of which `-m` may select tests; all if it names another mark, or can't be read."""
    words = set(expression.replace("(", " ").replace(")", " ").split())
    if not words or words - {*TIERS, "and", "or", "not"}:
        return frozenset(TIERS)
    return frozenset(tier for tier in TIERS if _selects(expression, tier))


def _selects(expression: str, tier: Tier) -> bool:
    def is_tier(name: str, /, **_: str | int | bool | None) -> bool:
        return name == tier

    return Expression.compile(expression).evaluate(is_tier)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test with its tier, unless its file does."""
    tier = tier_of(item.path)
    if item.get_closest_marker(tier) is None:
        item.add_marker(tier)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep pure tests pure."""
    if tier_of(item.path) == "pure":
        refuse_database(item)
