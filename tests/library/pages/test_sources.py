"""Where a proposal comes from: its sentence with a link to its page, wherever it is shown."""

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.proposals import propose
from coaching.models import ActionItem, Document, DocumentState, KnowledgeEntry, MadeBy
from coaching.personal_data.library import read_library_entries
from tests.library.rows import make_document

pytestmark = pytest.mark.django_db

KINDS = (("entry", "entry"), ("step", "action"))
QUOTE = "The rent is EUR 900 from 1 March 2027."


@pytest.fixture
def letter(user: User) -> Document:
    """A document in review, with an entry and a next step from its seventh page."""
    client = own_client(user.pk)
    document = make_document(client, "letter.pdf", text=f"Dear Ada\f{QUOTE}", state=DocumentState.REVIEW)
    source: dict[str, Any] = {"client_id": client.pk, "document_id": document.pk, "quote": QUOTE, "page": 7}
    entry = NewEntry(title="The new rent", content="The rent rises.", **source)
    action = NewAction(title="Pay more", due_date=date(2027, 3, 1), **source)
    for new in (entry, action):
        propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    return document


@pytest.mark.parametrize(
    ("address", "quotes"),
    [
        ("/library/documents/{document}/", 2),
        ("/library/review/", 2),
        ("/library/actions/", 1),
        ("/library/actions/{action}/", 1),
        ("/library/knowledge/", 1),
        ("/library/knowledge/{entry}/", 1),
    ],
)
def test_a_proposal_is_shown_with_its_sentence_and_a_link_to_its_page(
    signed_in: Browser, user: User, letter: Document, address: str, quotes: int
) -> None:
    ids = {"document": letter.pk, "action": ActionItem.of(user.pk).get().pk}
    ids["entry"] = KnowledgeEntry.of(user.pk).get().pk
    page = signed_in.get(address.format(**ids)).content.decode()
    assert page.count(f">{QUOTE}</q>") + page.count(f">{QUOTE}</blockquote>") == quotes
    links = [f'href="/library/documents/{letter.pk}/?{kind}={ids[of]}#viewer"' for kind, of in KINDS]
    assert sum(map(page.count, links)) >= quotes


def test_the_archive_has_the_sentence_and_its_page(user: User, letter: Document) -> None:
    files = {
        entry.path.rpartition("/")[2]: "".join(map(str, entry.pieces))
        for entry in read_library_entries(user_id=user.pk, zone=ZoneInfo("UTC"), now=timezone.now())
        if entry.path.endswith(".md")
    }
    assert f"> {QUOTE}" in files["knowledge.md"]
    assert f"“{QUOTE}”" in files["next-steps.md"]
    for text in files.values():
        assert "from letter.pdf, page 7" in text


@pytest.mark.parametrize(
    ("count", "words"), [(0, ""), (1, "1 value was left out"), (3, "3 values were left out")]
)
def test_a_documents_page_says_how_many_values_its_text_does_not_have(
    signed_in: Browser, letter: Document, count: int, words: str
) -> None:
    Document.unscoped.filter(pk=letter.pk).update(dropped_facts=count)
    page = signed_in.get(f"/library/documents/{letter.pk}/").content.decode()
    assert words in page
    assert ("left out because" in page) == bool(count)
