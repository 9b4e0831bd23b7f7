"""A pytest plugin: what each test needs. It has one tier, by the place of its file.

`-m pure` starts no server, and hardly a process. A file of tiers that `-m` leaves out isn't even imported.

A test is `slow` if it takes more than half a second of CPU, a pure one if more than a tenth, and if it starts
processes that do. Files of such tests are listed here, single tests in `long_tests.txt`; others are marked.

A run of the whole suite leaves out long tests whose turn is another day: `.ci/run` runs each in seven days.
"""

import os
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import pytest
from _pytest.mark.expression import Expression

from tests.long_tests import TESTS, TURNS, is_long, runs_today
from tests.thoroughness import DAY, IS_LONG

Tier = Literal["pure", "db", "slow", "browser", "faults"]
TIERS: tuple[Tier, ...] = get_args(Tier)
MAY_MARK_SLOW = frozenset[Tier]({"pure", "db"})
"""In files of these tiers, single tests may be marked `slow`."""

# Folders, and files without `.py`. What isn't named may use the database and start processes.
_PURE = """
    backups/test_archive backups/test_old_servers bench/strangers/test_words
    api/test_value_words architecture/test_children architecture/test_connections architecture/test_docs
    architecture/test_licences architecture/test_long_tests architecture/test_parsing
    architecture/test_pictures architecture/test_recipe_places architecture/test_requirements
    architecture/test_sizes
    architecture/test_texts architecture/test_thoroughness architecture/test_tiers
    architecture/test_tool_names bundles calendar/test_fetch
    clock context/test_closeness sage/test_upgrade_states
    context/test_fences context/test_sizes context/test_window deploy engine evals/test_checks
    evals/test_judge
    evals/test_results evals/test_situations files/test_days files/test_frontmatter files/test_paths
    files/test_permissions files/test_standing files/test_tasks
    languages/test_catalogues languages/test_formats languages/test_names_of_the_tour languages/test_notices
    legacy/test_bounded legacy/test_export_shapes legacy/test_formats legacy_text
    inbox/test_results letters/test_checking
    library/documents/test_page_marks library/documents/test_picture_metadata library/documents/test_reasons
    library/extractors/test_drawn_pages
    library/extractors/test_hostile_mails library/extractors/test_left_out
    library/pipeline/test_normalised_text library/pipeline/test_pages
    library/pipeline/test_small_context
    library/references/test_placement library/references/test_words
    library/references/test_reference_files library/references/test_selection library/test_evidence
    library/test_amounts library/test_dates library/test_deadlines
    library/test_planted_facts life/test_drawing life/test_levels life/test_words live/test_live
    live/test_supervision
    model_client/test_connection model_client/test_context_size model_client/test_patience
    model_client/test_servers pages/test_code_colours pages/test_styles people/test_attempts
    people/test_slots_of_tokens practice programs/test_names
    recall/test_excerpts recall/test_question safety sage/test_env sage/test_env_file
    sage/test_held_refusals
    sage/test_mail_pages sage/test_middleware sage/test_origin
    sandbox/test_blocks sandbox/test_formulas sessions_app/test_english sessions_app/test_money
    sessions_app/test_refusals
    skills/test_calls skills/test_check skills/test_prompt_rules skills/test_signals skills/test_texts
    sockets/test_streamed steps/test_repeats tools/test_help_lines_never_wait tools/test_show_options
    steps/test_promises steps/test_training steps/test_promise_forms steps/test_worst_inputs
    turns/test_citations turns/test_last_ratings turns/test_words voice/test_sound
"""
_SLOW = """
    backups/test_backup_restore
    architecture/test_audit architecture/test_pure_run architecture/test_recipes personal_data/test_removal
    calendar/test_reading context/test_care context/test_long_session context/test_tool_room
    files/test_garbage files/test_storage_faults files/test_storage_settings jobs/test_order
    jobs/test_worker languages/test_sockets legacy/test_killed_import
    library/extractors/test_hostile_files library/extractors/test_hostile_pages
    library/pipeline/test_confident library/pipeline/test_filing
    recogniser
    library/pipeline/test_injection library/pipeline/test_sourced library/pipeline/test_many_documents
    library/pipeline/test_turns_taken library/test_lock_order live/test_breaker live/test_successors
    inbox/test_hostile_attachments
    local
    pages/test_file_edits pages/test_limits pages/test_markdown pages/test_rendering patterns
    releases/test_opened
    practice/test_command recall/test_odd_queries requests/test_every_view requests/test_limits
    requests/test_parallel sage/test_checks sage/test_ending sage/test_launcher sage/test_mail
    sage/test_no_store sage/test_slow_uploads sage/test_squashed sage/test_startup sage/test_telemetry
    sage/test_up sandbox/test_rights sockets/test_attack_texts sockets/test_budgets sockets/test_limits
    sockets/test_newcomer sockets/test_operators sockets/test_question_forms
    sockets/test_several_processes voice/test_comparison
"""
PLACES: dict[str, Tier] = {
    **dict.fromkeys(_PURE.split(), "pure"),
    **dict.fromkeys(_SLOW.split(), "slow"),
    "backups/test_killed": "faults",
    "sage/test_database_upgrade": "faults",
    "safety/test_help_lines": "db",
    "browser": "browser",
    "faults": "faults",
}

FILES_VARIABLE = "SAGE_TEST_FILES"
ALL_FILES = os.environ.get(FILES_VARIABLE) == "all"
TAKES_TURNS = "SAGE_TEST_TAKES_TURNS"
"""Set by the run for its workers."""

DATABASE_FIXTURES = frozenset(
    {"db", "django_db_setup", "live_server", "transactional_db", "transactional_db_or_db"}
)
"""The other fixtures that need the database need one of these."""
DJANGO_MARKS = frozenset({"django_isolate_apps", "ignore_template_errors", "urls"})
IDLE_FIXTURES = frozenset(
    {
        "_django_clear_site_cache",
        "_django_db_marker",
        "_django_isolate_apps",
        "_django_set_urlconf",
        "_django_setup_unittest",
        "_live_server_helper",
        "_template_string_if_invalid_marker",
        "monkeypatch",
    }
)
"""Set up for each test by pytest-django, for marks and classes that hardly a pure test has."""


@cache
def tier_of(path: Path) -> Tier:
    """Return the tier of a test file, or of a folder's files that aren't named: the nearest place decides."""
    place = path.relative_to(TESTS).with_suffix("")
    return next((PLACES[name] for name in map(str, [place, *place.parents]) if name in PLACES), "db")


def tiers_in(place: Path) -> frozenset[Tier]:
    """Return the tiers that the tests of a file, or of a folder's files, may have."""
    start = f"{place.relative_to(TESTS)}/"
    listed = frozenset({tier_of(place)} | {tier for name, tier in PLACES.items() if name.startswith(start)})
    return listed | {"slow"} if listed & MAY_MARK_SLOW else listed


def tier_of_test(item: pytest.Item) -> Tier:
    """Return the tier of a test: the one it is marked with, otherwise its file's, if it doesn't take long."""
    of_file = tier_of(item.path)
    marks = {mark.name for mark in item.iter_markers()}
    marked = next((tier for tier in TIERS if tier in marks), None)
    if marked is None and of_file in MAY_MARK_SLOW and is_long(_name_of(item)):
        return "slow"
    return marked or of_file


def _name_of(item: pytest.Item) -> str:
    """Return a test's id below `tests/`, without parameters."""
    within = item.nodeid.partition("::")[2].partition("[")[0]
    return f"{_file_of(item.path)}::{within}"


@cache
def _file_of(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


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


def pytest_configure(config: pytest.Config) -> None:
    """Decide whether this is a run of the whole suite, for its workers too."""
    if hasattr(config, "workerinput"):
        return
    is_whole = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    option = config.option
    again = [config.getoption(name, False) for name in ("lf", "failedfirst", "stepwise")]
    is_chosen = option.markexpr or option.keyword or any(again)
    is_everyday = is_whole and not (is_chosen or IS_LONG or ALL_FILES)
    os.environ[TAKES_TURNS] = "1" if is_everyday else ""


def pytest_report_header() -> str:
    """Say how to run the tests that are left out."""
    if not os.environ[TAKES_TURNS]:
        return "long tests: all"
    return f"long tests: turn {DAY % TURNS} of {TURNS} ({FILES_VARIABLE}=all runs all of them)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out long tests whose turn is another day."""
    if not os.environ[TAKES_TURNS]:
        return
    left_out = [item for item in items if not runs_today(_name_of(item), day=DAY)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if runs_today(_name_of(item), day=DAY)]


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files and folders without a test that `-m` selects, if it names only tiers."""
    if not collection_path.is_relative_to(TESTS) or collection_path == TESTS:
        return None
    if os.environ[TAKES_TURNS] and collection_path.is_file():
        return None if runs_today(collection_path.relative_to(TESTS).as_posix(), day=DAY) else True
    wanted = wanted_tiers(config.getoption("markexpr"))
    return None if wanted & tiers_in(collection_path) else True


@cache
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
    """Mark each test with its tier, unless it is marked."""
    tier = tier_of_test(item)
    if item.get_closest_marker(tier) is None:
        item.add_marker(tier)
    if tier == "pure" and isinstance(item, pytest.Function):
        _leave_out_idle_fixtures(item)


def _leave_out_idle_fixtures(item: pytest.Function) -> None:
    """Leave out what takes a third of a small test's time; what the test or a fixture of it names runs."""
    if not DJANGO_MARKS.intersection(mark.name for mark in item.iter_markers()):
        idle = IDLE_FIXTURES.difference(item._fixtureinfo.argnames)
        item.fixturenames = [name for name in item.fixturenames if name not in idle]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep pure tests pure."""
    if tier_of(item.path) == "pure":
        refuse_database(item)
