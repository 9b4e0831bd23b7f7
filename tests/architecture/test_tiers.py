"""Each test has one tier, and one that needs no server gets none."""

import pytest
from django.contrib.auth.models import User

from tests.tiers import PLACES, TESTS, TIERS, refuse_database, tier_of, tiers_below, wanted_tiers


def test_each_test_has_exactly_one_tier(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        found = [mark.name for mark in item.iter_markers() if mark.name in TIERS]
        assert found == [tier_of(item.path)], item.nodeid


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
    assert tiers_below(TESTS / "engine") == {"pure"}
    assert tiers_below(TESTS / "safety") == {"pure", "db"}
    assert tiers_below(TESTS / "library") == {"pure", "db"}


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
        ("not (browser or faults)", {"pure", "db"}),
        ("", set(TIERS)),
        ("slow", set(TIERS)),
        ("pure and not slow", set(TIERS)),
    ],
)
def test_only_an_expression_of_tiers_leaves_files_out(expression: str, wanted: set[str]) -> None:
    assert wanted_tiers(expression) == wanted
