"""Each test has one tier, and one that needs no server gets none."""

import pytest
from django.contrib.auth.models import User

from tests.long_tests import TESTS
from tests.tiers import MAY_MARK_SLOW, PLACES, TIERS, refuse_database, tier_of, tiers_in, wanted_tiers


def test_each_test_has_exactly_one_tier(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        found = [mark.name for mark in item.iter_markers() if mark.name in TIERS]
        in_place = tier_of(item.path)
        assert found == [in_place] or (found == ["slow"] and in_place in MAY_MARK_SLOW), item.nodeid


def test_each_place_is_a_folder_or_a_file_of_tests() -> None:
    for name in PLACES:
        assert (TESTS / name).is_dir() or (TESTS / f"{name}.py").is_file(), name


@pytest.mark.parametrize(
    ("place", "tier"),
    [
        ("engine/test_loop.py", "pure"),
        ("library/references/test_placement.py", "pure"),
        ("safety/test_danger.py", "pure"),
        ("safety/test_help_lines.py", "db"),
        ("pages/test_pages.py", "db"),
        ("browser/test_week.py", "browser"),
        ("faults/test_upstream.py", "faults"),
        ("a_new_folder/test_something.py", "db"),
    ],
)
def test_the_nearest_place_decides(place: str, tier: str) -> None:
    assert tier_of(TESTS / place) == tier


def test_a_folder_has_the_tiers_of_its_files() -> None:
    assert tiers_in(TESTS / "engine") == {"pure", "slow"}
    assert tiers_in(TESTS / "safety") == {"pure", "db", "slow"}
    assert tiers_in(TESTS / "library") == {"pure", "db", "slow"}


@pytest.mark.parametrize(
    ("expression", "file", "is_left_out"),
    [
        ("pure", "engine/test_loop.py", False),
        ("pure", "pages/test_pages.py", True),
        ("pure", "patterns/test_patterns.py", True),
        ("slow", "engine/test_loop.py", False),  # one of its tests may be marked
        ("slow", "patterns", False),
        ("slow", "browser/test_week.py", True),
        ("pure or db", "faults", True),
    ],
)
def test_files_without_a_test_that_is_wanted_are_left_out(
    expression: str, file: str, is_left_out: bool
) -> None:
    assert wanted_tiers(expression).isdisjoint(tiers_in(TESTS / file)) is is_left_out


def test_a_query_in_a_pure_test_fails() -> None:
    with pytest.raises(RuntimeError, match="Database access not allowed"):
        User.objects.exists()


@pytest.mark.parametrize("asked", ["by mark", "by fixture"])
def test_a_pure_test_that_asks_for_the_database_fails_plainly(
    request: pytest.FixtureRequest, asked: str
) -> None:
    refuse_database(request.node)
    if asked == "by mark":
        request.node.add_marker("django_db")
    else:
        request.node.fixturenames.append("transactional_db")
    with pytest.raises(
        pytest.fail.Exception, match=r"is in the tier `pure`.*asks for the database"
    ) as refused:
        refuse_database(request.node)
    assert "architecture/test_tiers.py" in str(refused.value)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("pure", {"pure"}),
        ("pure or db", {"pure", "db"}),
        ("not (browser or faults)", {"pure", "db", "slow"}),
        ("", set(TIERS)),
        ("slow", {"slow"}),
        ("redis", set(TIERS)),
        ("pure and not redis", set(TIERS)),
    ],
)
def test_only_an_expression_of_tiers_leaves_files_out(expression: str, wanted: set[str]) -> None:
    assert wanted_tiers(expression) == wanted
