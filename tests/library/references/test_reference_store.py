"""References and rules in the database: synced from files, changed by operators, read anew after a change."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from coaching.library.references.current import References, current_references
from coaching.library.references.files import read_reference_files, sync_reference_files
from coaching.library.references.placement import Rule
from coaching.library.references.store import (
    return_reference_to_file,
    return_rule_to_file,
    store_reference_override,
    store_rule,
)
from coaching.models import FilingLevel, PlacementRule, Reference
from sessions_app.errors import Refused
from tests.library.references.conftest import change

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("synced_references")]


def place(file_type: str, client_type: str = "") -> tuple[str, str]:
    found = current_references().placement.place(
        file_type=file_type, category="", client_type=client_type, has_project=True
    )
    return found.folder, found.rule


def test_what_is_read_is_what_the_files_say_and_a_second_sync_writes_nothing(shipped: References) -> None:
    found = current_references()
    assert found.by_type == shipped.by_type
    assert found.vocabulary == shipped.vocabulary
    assert {rule.key: rule for rule in found.rules} == {rule.key: rule for rule in shipped.rules}
    lines = Reference.history.count(), PlacementRule.history.count()
    assert lines == (len(shipped.by_type), len(shipped.rules))
    report = sync_reference_files()
    assert (report.added, report.changed, report.retired, report.rules) == ((), (), (), 0)
    assert (Reference.history.count(), PlacementRule.history.count()) == lines


def test_reading_again_costs_two_small_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    first = current_references()
    with django_assert_num_queries(2):
        assert current_references() is first


def test_a_sync_follows_a_changed_a_lost_and_a_returned_file(root: Path) -> None:
    change(root / "references" / "will.md", "title: Will", "title: Last will")
    change(root / "references" / "will.md", "folder: Legal", "folder: Letters")
    kept = (root / "references" / "journal-entry.md").rename(root / "kept.md")
    for path in (root / "references").glob("*.md"):
        path.write_text(path.read_text().replace("file_type: journal-entry", "file_type: letter"))
    change(
        root / "placement.yaml", "- {category: travel, folder: Travel", "- {category: travel, folder: Home"
    )
    report = sync_reference_files(root)
    assert "will" in report.changed
    assert report.retired == ("journal-entry",)
    found = current_references()
    assert found.by_type["will"].title == "Last will"
    assert place("will") == ("Letters", "type")
    assert "journal-entry" not in found.by_type
    assert place("journal-entry") == ("", "none")
    kept.rename(root / "references" / "journal-entry.md")
    assert "journal-entry" in sync_reference_files(root).changed
    assert place("journal-entry") == ("Notes and calls", "type")


def test_an_operators_text_is_used_stays_over_a_sync_and_can_be_taken_back(
    root: Path, operator: User
) -> None:
    row = Reference.objects.get(file_type="will")
    mine = row.file_text.replace("title: Will", "title: Testament").replace("codicil", "holographic")
    store_reference_override(file_type="will", text=mine.replace("\n", "\r\n"), editor=operator)
    used = current_references().by_type["will"]
    assert (used.title, "holographic" in used.phrases) == ("Testament", True)
    change(root / "references" / "will.md", "title: Will", "title: Last will")
    change(root / "references" / "will.md", "folder: Legal", "folder: Letters")
    sync_reference_files(root)
    row.refresh_from_db()
    assert (row.title, row.has_file_changed, row.folder) == ("Testament", True, "Letters")
    return_reference_to_file(file_type="will", editor=operator)
    assert current_references().by_type["will"].title == "Last will"
    assert [line.history_change_reason for line in row.history.all()] == [
        "Back to the file.",
        "The file changed.",
        "An operator's text.",
        "Read from its file.",
    ]
    assert row.history.first().history_user == operator


def test_the_files_own_text_removes_an_operators(operator: User) -> None:
    row = Reference.objects.get(file_type="will")
    mine = row.file_text.replace("title: Will", "title: Testament")
    store_reference_override(file_type="will", text=mine, editor=operator)
    back = store_reference_override(file_type="will", text=f"\n{row.file_text}\n", editor=operator)
    assert (back.override, back.title) == ("", "Will")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("file_type: will", "file_type: codicil", "a new type is a new file"),
        ("folder: Legal", "folder: Letters", "filing: change the placement rule instead"),
        ("tags: [legal", "tags: [comet", "tags: comet isn't known"),
        ("## What it is", "What it is", "missing heading “## What it is”"),
        ("---\n", "", "there is no frontmatter"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused(old: str, new: str, fault: str) -> None:
    row = Reference.objects.get(file_type="will")
    with pytest.raises(Refused, match=fault):
        store_reference_override(file_type="will", text=row.file_text.replace(old, new, 1), editor=None)
    row.refresh_from_db()
    assert not row.is_overridden


def test_an_operators_rule_is_used_stays_over_a_sync_and_can_be_taken_back(operator: User) -> None:
    assert place("lease") == ("Leases", "type")
    row = store_rule(
        rule=Rule(file_type="lease", folder="Contracts", level=FilingLevel.CLIENT), editor=operator
    )
    assert place("lease") == ("Contracts", "type")
    assert "Contracts" in current_references().vocabulary.folders
    sync_reference_files()
    assert place("lease") == ("Contracts", "type")
    rules = read_reference_files().rules
    assert return_rule_to_file(rule_id=row.pk, file_rules=rules, editor=operator) is not None
    assert place("lease") == ("Leases", "type")
    row.refresh_from_db()
    assert not row.is_overridden


def test_a_rule_that_the_files_do_not_have_is_deleted_when_taken_back(operator: User) -> None:
    rule = Rule(file_type="will", client_type="company", folder="Staff", level=FilingLevel.CLIENT)
    row = store_rule(rule=rule, editor=operator)
    assert place("will", "company") == ("Staff", "type and client type")
    sync_reference_files()
    assert place("will", "company") == ("Staff", "type and client type")
    assert (
        return_rule_to_file(rule_id=row.pk, file_rules=read_reference_files().rules, editor=operator) is None
    )
    assert place("will", "company") == ("Legal", "type")
    last = PlacementRule.history.first()
    assert (last.history_type, last.history_change_reason) == ("-", "Deleted by an operator.")


def test_a_rule_names_a_known_type_or_category() -> None:
    with pytest.raises(Refused, match="no type comet"):
        store_rule(rule=Rule(file_type="comet", folder="Home", level=FilingLevel.CLIENT), editor=None)
    with pytest.raises(Refused, match="no category space"):
        store_rule(rule=Rule(category="space", folder="Home", level=FilingLevel.CLIENT), editor=None)


def test_words_or_a_type_find_references() -> None:
    found = current_references()
    assert found.find("bank-statement")[0].file_type == "bank-statement"
    assert found.find("Bank Statement")[0].file_type == "bank-statement"
    assert found.find("Gehaltsabrechnung")[0].file_type == "payslip"
    assert found.find("comet sighting") == []
    tagged = found.find("statement", tags=["loan"])[0].file_type
    assert "loan" in found.by_type[tagged].tags
