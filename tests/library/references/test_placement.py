"""Where documents are filed: the most specific rule wins."""

import pytest

from coaching.library.references.current import References
from coaching.library.references.placement import NO_PROJECT, NO_RULE, PlacementTable, Rule
from coaching.models import ClientType, FilingLevel

CLIENT, PROJECT = FilingLevel.CLIENT, FilingLevel.PROJECT
ROWS = [
    Rule(file_type="lease", folder="Leases", level=PROJECT),
    Rule(file_type="lease", client_type="self", folder="Home", level=CLIENT),
    Rule(category="leases", folder="Other leases", level=PROJECT),
    Rule(category="leases", client_type="company", folder="Company leases", level=CLIENT),
]
TABLE = PlacementTable.of(ROWS, {"lease": "leases"})


@pytest.mark.parametrize(
    ("file_type", "category", "client_type", "folder", "rule"),
    [
        ("lease", "leases", "self", "Home", "type and client type"),
        ("lease", "leases", "company", "Leases", "type"),
        ("lease", "nonsense", "", "Leases", "type"),
        ("sublease", "leases", "company", "Company leases", "category and client type"),
        ("sublease", "leases", "person", "Other leases", "category"),
        ("", "leases", "", "Other leases", "category"),
    ],
)
def test_the_most_specific_rule_wins(
    file_type: str, category: str, client_type: str, folder: str, rule: str
) -> None:
    found = TABLE.place(file_type=file_type, category=category, client_type=client_type, has_project=True)
    assert (found.folder, found.rule, found.review) == (folder, rule, "")


def test_a_known_type_keeps_its_own_category() -> None:
    assert TABLE.place(file_type="lease", category="tax", has_project=True).category == "leases"


def test_a_project_level_one_without_a_project_goes_to_review() -> None:
    found = TABLE.place(file_type="lease", category="leases", client_type="person", has_project=False)
    assert (found.folder, found.level, found.review) == ("Leases", "project", NO_PROJECT)


def test_what_no_rule_covers_goes_to_review() -> None:
    found = TABLE.place(file_type="comet", category="space", has_project=True)
    assert (found.folder, found.level, found.rule, found.review) == ("", "", "none", NO_RULE)


def test_every_shipped_type_and_category_is_filed_for_every_client(shipped: References) -> None:
    vocabulary = shipped.vocabulary
    for client_type in ("", *ClientType.values):
        for file_type in vocabulary.file_types:
            found = shipped.placement.place(
                file_type=file_type, category="", client_type=client_type, has_project=True
            )
            assert found.folder in vocabulary.folders
            assert not found.review
            assert found.rule in ("type and client type", "type")
        for category in vocabulary.categories:
            found = shipped.placement.place(
                file_type="new", category=category, client_type=client_type, has_project=True
            )
            assert found.folder in vocabulary.folders
            assert not found.review


def test_documents_of_ones_own_home_need_no_project(shipped: References) -> None:
    for file_type, reference in shipped.by_type.items():
        for client_type in ("self", "household"):
            found = shipped.placement.place(
                file_type=file_type, category="", client_type=client_type, has_project=False
            )
            assert (found.level, found.review) == ("client", ""), (file_type, reference.level)
