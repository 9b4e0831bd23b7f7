"""Recall of documents and knowledge: indexed by triggers, found by page, and never beyond their owner."""

import importlib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.library.clients import own_client
from coaching.models import (
    Document,
    DocumentState,
    DocumentText,
    EntryState,
    KnowledgeEntry,
    RecallPassage,
    RecallSource,
)
from coaching.recall.search import Bounds
from tests.recall.history import found, talk

pytestmark = pytest.mark.django_db

migration: Any = importlib.import_module("coaching.migrations.0017_recall_library")
ALL = Bounds(sources=tuple(RecallSource))


def document(user: User, name: str = "tenancy_2026.pdf", *pages: str, **values: Any) -> Document:
    """Store a document with its text."""
    values = {"state": DocumentState.FILED, "folder": "Leases", "size": 1, **values}
    numbers = values.pop("pages_read", [])
    made = Document.of(user.pk).create(
        client=own_client(user.pk), name=name, storage_key=f"{user.pk}/{name}", **values
    )
    if pages:
        DocumentText.unscoped.create(document=made, text="\f".join(pages), pages_read=numbers)
    return made


def entry(user: User, title: str, content: str, **values: Any) -> KnowledgeEntry:
    """Store a knowledge entry."""
    return KnowledgeEntry.of(user.pk).create(
        client=own_client(user.pk), title=title, content=content, **values
    )


def sources(user: User) -> list[tuple[str, int]]:
    """Return the source and part of each passage of the user."""
    return sorted(RecallPassage.of(user.pk).values_list("source", "part"))


def test_a_document_is_one_hit_with_its_best_page(user: User) -> None:
    lease = document(
        user, "tenancy.pdf", "Parties and rent.", "The term ends in March.", "The term; signatures."
    )
    (passage,) = found(user, "when does the term end in March?")
    hit = passage.hit
    assert (hit.source, hit.file_id, hit.part) == (RecallSource.DOCUMENT, lease.pk, 2)
    assert (passage.text, passage.title) == ("The term ends in March.", "tenancy.pdf")


def test_a_page_keeps_its_number_where_not_all_were_read(user: User) -> None:
    document(user, "survey.pdf", "The roof.", "The damp in the cellar.", pages_read=[1, 188])
    (passage,) = found(user, "damp")
    assert (passage.hit.part, passage.text) == (188, "The damp in the cellar.")


@pytest.mark.parametrize("word", ["tenancy", "quokka", "landlord", "Barton"])
def test_a_document_is_found_by_name_summary_and_facts(user: User, word: str) -> None:
    facts = [{"name": "Landlord", "value": "Barton Ltd"}]
    lease = document(user, summary="A lease of a quokka.", key_facts=facts)
    (passage,) = found(user, word)
    assert (passage.hit.file_id, passage.hit.part) == (lease.pk, 0)
    assert passage.text.startswith("A lease of a quokka.\nLandlord: Barton Ltd\n")


def test_what_becomes_known_of_a_document_is_found_at_once_and_only_as_it_is(user: User) -> None:
    lease = document(user, "a.pdf", "A wombat.")
    Document.of(user.pk).update(summary="About bilbies.")
    assert [each.hit.part for each in found(user, "bilbies")] == [0]
    DocumentText.of(user.pk).update(text="A dugong.")
    assert found(user, "wombat") == []
    assert [each.text for each in found(user, "dugong")] == ["A dugong."]
    Document.of(user.pk).get(pk=lease.pk).delete()
    assert sources(user) == []


def test_of_a_duplicate_only_the_first_is_found(user: User) -> None:
    document(user, "a.pdf", "A wombat.")
    second = document(user, "b.pdf", "A wombat.")
    Document.of(user.pk).filter(pk=second.pk).update(state=DocumentState.DUPLICATE)
    assert [each.title for each in found(user, "wombat")] == ["a.pdf"]
    Document.of(user.pk).filter(pk=second.pk).update(state=DocumentState.REVIEW)
    assert {each.title for each in found(user, "wombat")} == {"a.pdf", "b.pdf"}


def test_knowledge_is_found_once_it_is_accepted(user: User) -> None:
    proposed = entry(user, "Rent review", "Every three years.", state=EntryState.PROPOSED)
    assert found(user, "rent review") == []
    KnowledgeEntry.of(user.pk).update(state=EntryState.ACCEPTED)
    (passage,) = found(user, "rent review")
    assert (passage.hit.source, passage.hit.file_id) == (RecallSource.KNOWLEDGE, proposed.pk)
    assert passage.title == "Rent review"
    KnowledgeEntry.of(user.pk).update(state=EntryState.DISMISSED)
    assert found(user, "rent review") == []


def test_what_is_withheld_is_found_on_a_page_only(user: User) -> None:
    lease = document(user, "a.pdf", "A wombat.")
    entry(user, "Wombats", "They dig.", document=lease)
    assert len(found(user, "wombat")) == 2
    Document.of(user.pk).update(is_withheld=True)
    assert found(user, "wombat") == []
    assert {each.hit.source for each in found(user, "wombat", bounds=ALL)} == {
        RecallSource.WITHHELD_DOCUMENT,
        RecallSource.WITHHELD_KNOWLEDGE,
    }
    Document.of(user.pk).update(summary="A wombat, still withheld.")
    DocumentText.of(user.pk).update(text="Another wombat.")
    KnowledgeEntry.of(user.pk).update(content="Wombats dig.")
    assert found(user, "wombat") == []
    Document.of(user.pk).update(is_withheld=False)
    assert len(found(user, "wombat")) == 2


def test_nobody_else_finds_them(user: User, other_user: User) -> None:
    lease = document(user, "a.pdf", "A wombat.")
    entry(user, "Wombats", "They dig.", document=lease)
    talk(other_user, "A wombat of my own")
    assert [each.text for each in found(other_user, "wombat", bounds=ALL)] == ["A wombat of my own"]


def test_a_library_leaves_its_owner_s_messages_and_files_as_they_are(user: User) -> None:
    talk(user, "The wombat came at dusk", "Did it stay?")
    before = RecallPassage.of(user.pk).count()
    document(user, "a.pdf", "A numbat.").delete()
    entry(user, "Numbats", "They dig.").delete()
    assert RecallPassage.of(user.pk).count() == before


def test_what_was_there_before_the_migration_is_indexed_as_the_triggers_would(user: User) -> None:
    document(user, "a.pdf", "A wombat.", "A bilby.", summary="Two animals.")
    document(user, "b.pdf", "A secret.", is_withheld=True)
    entry(user, "Wombats", "They dig.")
    names = ("source", "file_id", "part", "piece", "moment", "lexemes")
    before = set(RecallPassage.of(user.pk).values_list(*names))
    assert len(before) == 6
    RecallPassage.of(user.pk).delete()
    for _ in range(2):
        with connection.cursor() as cursor:
            migration.index_batch(cursor, migration.HOLD_DOCUMENTS, migration.INDEX_DOCUMENTS, 0)
            migration.index_batch(cursor, migration.HOLD_ENTRIES, migration.INDEX_ENTRIES, 0)
        assert set(RecallPassage.of(user.pk).values_list(*names)) == before
