"""The original beside its facts: who may see a page, how often it is drawn, and what is marked in it.

Over 300 lines, because nearly all tests ask for pages of the same letter.
"""

import asyncio
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone
from PIL import Image

from coaching.library.clients import own_client
from coaching.library.documents import drawn_pages
from coaching.library.documents.drawn_pages import expire_pages, keep_page, trim_pages
from coaching.library.documents.facts import fact_key
from coaching.library.documents.filing import delete_document, read_again, withhold_document
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.documents.page_marks import Marked
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.extractors.content_types import DOCX, PDF, PNG, TXT
from coaching.library.pages.text_pages import TextPage, beginning_of
from coaching.library.pipeline import page_images, page_rendering, turns
from coaching.library.proposals import propose
from coaching.models import (
    ActionItem,
    Document,
    DocumentPage,
    DocumentState,
    DocumentText,
    KnowledgeEntry,
    MadeBy,
)
from coaching.people.attempts import AttemptLimit
from coaching.sandbox.host import ProcessHost
from sessions_app.database import in_database
from tests.files.conftest import disk_storage
from tests.library.extractors import files, images
from tests.library.rows import make_document

__all__ = ["disk_storage"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage")]

QUOTE = "The rent is EUR 900 from 1 March 2027."
PAGES = (("Dear Ada", "this is about your flat."), ("On the second page:", QUOTE, "Yours"))
FACTS: list[dict[str, Any]] = [
    {"name": "Tenant", "value": "Ada", "quote": "Dear Ada", "page": 1},
    {"name": "Rent", "value": "EUR 900", "quote": QUOTE, "page": 2},
    {"name": "Pet", "value": "no"},
]


@pytest.fixture(autouse=True)
def fresh_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of another process: tests share this one's."""
    limit = AttemptLimit(attempts=page_images.DRAWN_IN_A_MINUTE, seconds=60)
    monkeypatch.setattr(page_images, "drawings", limit)


def stored(user: User, data: bytes, *, text: str = "", **values: Any) -> Document:
    """Store a document's bytes, and what reading them would have found."""
    document = take_in(
        user_id=user.pk, name="letter.pdf", data=data, destination=destination_of(user_id=user.pk)
    )
    found = {
        "state": DocumentState.REVIEW,
        "content_type": PDF,
        "page_count": 2,
        "key_facts": FACTS,
        **values,
    }
    Document.unscoped.filter(pk=document.pk).update(**found)
    DocumentText.unscoped.update_or_create(document=document, defaults={"text": text})
    document.refresh_from_db()
    return document


@pytest.fixture
def letter(user: User) -> Document:
    """A PDF of two pages with its facts."""
    return stored(user, files.pdf(PAGES), text="\f".join("\n".join(lines) for lines in PAGES))


def image_of(document: Document, number: int = 1) -> str:
    return f"/library/documents/{document.pk}/pages/{number}.webp"


def viewer_of(document: Document, query: str = "") -> str:
    return f"/library/documents/{document.pk}/viewer/{query}"


def fact(number: int = 1, facts: Sequence[Mapping[str, Any]] = FACTS) -> str:
    """Return what asks for a fact."""
    return f"?fact={fact_key(facts[number - 1])}"


def marks_in(markup: str) -> list[str]:
    return re.findall(r"<rect ", markup)


def test_a_page_is_sent_as_an_image_that_nothing_stores(signed_in: Browser, letter: Document) -> None:
    response = signed_in.get(image_of(letter, 2))
    assert response.status_code == HTTPStatus.OK
    assert response["Content-Type"] == "image/webp"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))
    with Image.open(io.BytesIO(response.content)) as image:
        assert (image.format, max(image.size)) == ("WEBP", 2_000)


@pytest.mark.parametrize("state", [DocumentState.FAILED, DocumentState.REFUSED])
def test_of_a_document_that_was_not_read_there_is_no_page(
    signed_in: Browser, letter: Document, state: DocumentState
) -> None:
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK
    Document.unscoped.filter(pk=letter.pk).update(state=state, reason="It is broken.")
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.NOT_FOUND
    assert signed_in.get(viewer_of(letter)).status_code == HTTPStatus.NOT_FOUND


def test_a_withheld_document_gives_nothing_until_it_is_allowed_again(
    signed_in: Browser, user: User, letter: Document
) -> None:
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK
    withhold_document(user_id=user.pk, document_id=letter.pk, is_withheld=True)
    assert not DocumentPage.of(user.pk).exists()
    for address in (image_of(letter), viewer_of(letter), viewer_of(letter, fact(2))):
        assert signed_in.get(address).status_code == HTTPStatus.NOT_FOUND
    shown = signed_in.get(f"/library/documents/{letter.pk}/{fact(2)}").content.decode()
    assert f"<mark>{QUOTE}</mark>" in shown, "its own text is still there"
    assert "webp" not in shown
    withhold_document(user_id=user.pk, document_id=letter.pk, is_withheld=False)
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK


def test_nobody_else_gets_a_page_and_a_deleted_document_leaves_none(
    client: Browser, signed_in: Browser, user: User, other_user: User, letter: Document
) -> None:
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK
    theirs = Browser()
    assert theirs.get(image_of(letter)).status_code == HTTPStatus.FOUND
    theirs.force_login(other_user)
    for address in (image_of(letter), viewer_of(letter), viewer_of(letter, fact())):
        assert theirs.get(address).status_code == HTTPStatus.NOT_FOUND
    delete_document(user_id=user.pk, document_id=letter.pk)
    assert not DocumentPage.unscoped.exists()
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("number", [0, 3, 10**9, 10**30])
def test_a_page_that_the_document_does_not_have_is_not_found_and_not_drawn(
    signed_in: Browser, letter: Document, number: int
) -> None:
    assert signed_in.get(image_of(letter, number)).status_code == HTTPStatus.NOT_FOUND
    assert signed_in.get(viewer_of(letter, f"?page={number}")).status_code == HTTPStatus.NOT_FOUND
    assert not DocumentPage.unscoped.exists()


def test_fifty_pages_are_drawn_in_a_minute_and_those_that_are_kept_are_not_counted(
    signed_in: Browser, user: User, letter: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page_images.DRAWN_IN_A_MINUTE == 50
    monkeypatch.setattr(page_images, "drawings", AttemptLimit(attempts=1, seconds=60))
    for _ in range(3):
        assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK
    refused = signed_in.get(image_of(letter, 2))
    assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert int(refused["Retry-After"]) > 0
    assert "too often" in refused.content.decode()
    shown = signed_in.get(viewer_of(letter, fact(2)), headers={"HX-Request": "true"})
    assert (shown.status_code, shown["HX-Retarget"]) == (HTTPStatus.TOO_MANY_REQUESTS, "#viewer")
    assert "too often" in shown.content.decode()
    assert f"<mark>{QUOTE}</mark>" in shown.content.decode(), "the sentence is there without the image"


async def test_a_page_in_two_tabs_is_drawn_once(
    user: User, letter: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_images, "drawings", AttemptLimit(attempts=1, seconds=60))
    asked: dict[str, Any] = {"user_id": user.pk, "document_id": letter.pk, "number": 1}
    drawn = await asyncio.gather(*(page_images.page_for(**asked) for _ in range(2)))
    assert drawn[0] == drawn[1]
    assert await in_database(DocumentPage.of(user.pk).count) == 1


async def test_of_pages_that_nobody_waits_for_any_more_only_the_one_under_way_is_drawn(
    user: User, letter: Document
) -> None:
    asked: dict[str, Any] = {"user_id": user.pk, "document_id": letter.pk}
    await page_images.page_for(**asked, number=1)  # a process is there
    await in_database(DocumentPage.of(user.pk).delete)
    left = [asyncio.create_task(page_images.page_for(**asked, number=1)) for _ in range(20)]
    await asyncio.sleep(0.05)
    for task in left:
        task.cancel()
    assert (await page_images.page_for(**asked, number=2)).number == 2
    assert await in_database(DocumentPage.of(user.pk).count) <= 2
    assert turns._threads._work_queue.empty()


def test_a_refusal_is_in_the_language_of_the_person(
    signed_in: Browser, letter: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_images, "drawings", AttemptLimit(attempts=1, seconds=60))
    german = {"Accept-Language": "de"}
    assert signed_in.get(image_of(letter), headers=german).status_code == HTTPStatus.OK
    refused = signed_in.get(image_of(letter, 2), headers=german).content.decode()
    assert refused.startswith("Das war in kurzer Zeit zu oft.")


def test_a_page_whose_process_failed_is_drawn_at_the_next_attempt(
    signed_in: Browser, user: User, letter: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        impatient = replace(page_rendering.LIMITS, seconds=0.0)
        patched.setattr(page_rendering, "_host", ProcessHost(page_rendering.MODULE, impatient, slots=1))
        refused = signed_in.get(image_of(letter))
    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "takes too long" in refused.content.decode()
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK


def test_read_again_draws_the_pages_again(signed_in: Browser, user: User, letter: Document) -> None:
    values = {"failure": "This page is damaged and can’t be shown."}
    keep_page(user_id=user.pk, document_id=letter.pk, number=1, values=values)
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    read_again(user_id=user.pk, document_id=letter.pk)
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.OK


def test_a_page_that_cannot_be_drawn_says_why_and_is_not_tried_again(
    signed_in: Browser, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = stored(user, files.pdf(PAGES)[:400], text="Dear Ada")
    monkeypatch.setattr(page_images, "drawings", AttemptLimit(attempts=1, seconds=60))
    for _ in range(2):
        refused = signed_in.get(image_of(broken))
        assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert refused.content.decode() == "This PDF is damaged and can’t be opened."
    shown = signed_in.get(viewer_of(broken)).content.decode()
    assert "This PDF is damaged" in shown
    assert "Dear Ada" in shown


def test_pages_are_kept_for_a_week_and_only_so_many_of_a_person(
    user: User, letter: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(number: int, size: int = 1) -> None:
        values = {"data": b"x", "size": size}
        keep_page(user_id=user.pk, document_id=letter.pk, number=number, values=values)

    def numbers() -> list[int]:
        return list(DocumentPage.of(user.pk).order_by("number").values_list("number", flat=True))

    monkeypatch.setattr(drawn_pages, "PAGES_OF_A_PERSON", 3)
    for number in range(1, 6):
        keep(number)
    trim_pages(user.pk)
    assert numbers() == [3, 4, 5]
    keep(6, size=drawn_pages.BYTES_OF_A_PERSON)
    trim_pages(user.pk)
    assert numbers() == [6]
    assert expire_pages(now=timezone.now() + timedelta(days=6)) == 0
    assert expire_pages(now=timezone.now() + timedelta(days=8)) == 1
    assert numbers() == []


def test_a_fact_leads_to_its_page_and_marks_its_sentence(signed_in: Browser, letter: Document) -> None:
    address = f"/library/documents/{letter.pk}/"
    page = signed_in.get(address).content.decode()
    assert (
        f'href="{address}{fact(2)}#viewer" hx-get="{viewer_of(letter)}{fact(2)}" hx-target="#viewer"' in page
    )
    assert fact(3) not in page, "a fact without a sentence or a page leads nowhere"
    assert not DocumentPage.unscoped.exists(), "the page doesn't wait for an image"
    waiting = signed_in.get(f"{address}{fact(2)}").content.decode()
    assert f'hx-get="{viewer_of(letter)}{fact(2)}" hx-trigger="intersect once"' in waiting
    for shown in (signed_in.get(viewer_of(letter, fact(2))), signed_in.get(f"{address}{fact(2)}")):
        markup = shown.content.decode()
        assert f'src="{image_of(letter, 2)}"' in markup
        assert len(marks_in(markup)) == 1
        assert "The sentence is marked on page 2." in markup
        assert f"<mark>{QUOTE}</mark>" in markup
    assert 'style="' not in markup


def test_a_link_to_a_fact_leads_to_this_one_or_none_after_the_text_was_read_anew(
    signed_in: Browser, letter: Document
) -> None:
    Document.unscoped.filter(pk=letter.pk).update(key_facts=[*FACTS[2:], *FACTS[1::-1]])
    shown = signed_in.get(viewer_of(letter, fact(2))).content.decode()
    assert f"<mark>{QUOTE}</mark>" in shown
    Document.unscoped.filter(pk=letter.pk).update(key_facts=[FACTS[1] | {"value": "EUR 950"}])
    shown = signed_in.get(viewer_of(letter, fact(2))).content.decode()
    assert "<mark>" not in shown


def test_an_entry_and_a_next_step_lead_to_their_sentence(
    signed_in: Browser, user: User, other_user: User, letter: Document
) -> None:
    source: dict[str, Any] = {
        "client_id": letter.client_id,
        "document_id": letter.pk,
        "quote": QUOTE,
        "page": 2,
    }
    for new in (NewEntry(title="Rent", content="It rises.", **source), NewAction(title="Pay", **source)):
        propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    entry, step = KnowledgeEntry.of(user.pk).get(), ActionItem.of(user.pk).get()
    for query in (f"?entry={entry.pk}", f"?step={step.pk}"):
        assert len(marks_in(signed_in.get(viewer_of(letter, query)).content.decode())) == 1
        for address in (f"/library/documents/{letter.pk}/", "/library/review/"):
            assert (
                f'href="/library/documents/{letter.pk}/{query}#viewer"'
                in signed_in.get(address).content.decode()
            )
    other = make_document(own_client(other_user.pk))
    KnowledgeEntry.unscoped.filter(pk=entry.pk).update(user=other_user, client=other.client, document=other)
    assert marks_in(signed_in.get(viewer_of(letter, f"?entry={entry.pk}")).content.decode()) == []


@pytest.mark.parametrize("query", ["?step=0", "?step=-1", "?page=", "?page=²"])
def test_what_cannot_be_chosen_is_not_found(signed_in: Browser, letter: Document, query: str) -> None:
    for address in (viewer_of(letter, query), f"/library/documents/{letter.pk}/{query}"):
        assert signed_in.get(address).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("query", ["?fact=2", "?fact=x", "?fact=", "?entry=1", "?step=1"])
def test_for_what_is_not_there_any_more_the_document_is_shown(
    signed_in: Browser, letter: Document, query: str
) -> None:
    shown = signed_in.get(viewer_of(letter, query)).content.decode()
    assert f'src="{image_of(letter, 1)}"' in shown
    assert marks_in(shown) == []
    assert signed_in.get(f"/library/documents/{letter.pk}/{query}").status_code == HTTPStatus.OK


def test_a_type_without_pages_shows_its_text_with_the_sentence(signed_in: Browser, user: User) -> None:
    text = f"{'Word. ' * 5_000}{QUOTE}{' More.' * 5_000}"
    facts = [{"name": "Rent", "value": "EUR 900", "quote": QUOTE}]
    letter = stored(user, b"unused", text=text, content_type=DOCX, page_count=1, key_facts=facts)
    shown = signed_in.get(viewer_of(letter, fact(1, facts))).content.decode()
    assert f"<mark>{QUOTE}</mark>" in shown
    assert len(shown) < 30_000
    assert "<img" not in shown
    assert signed_in.get(image_of(letter)).status_code == HTTPStatus.NOT_FOUND
    slides = stored(user, b"slides", text="One\fTwo\fNine", content_type=DOCX, page_count=9)
    DocumentText.unscoped.filter(document=slides).update(pages_read=[1, 2, 9])
    second = signed_in.get(viewer_of(slides, "?page=2")).content.decode()
    assert "Two" in second
    assert "?page=1#viewer" in second
    assert "?page=9#viewer" in second, "the next page whose text was read"
    assert signed_in.get(viewer_of(slides, "?page=3")).status_code == HTTPStatus.NOT_FOUND
    empty = stored(user, b"another", text=" ", content_type=TXT, page_count=1)
    assert "viewer-place" not in signed_in.get(f"/library/documents/{empty.pk}/").content.decode()


def test_of_a_very_long_text_the_beginning_is_shown() -> None:
    first, second = Marked(before="Dear ", mark="Ada", after=", hello"), Marked(before="Bye")
    pages = [TextPage(number=number, text=text) for number, text in ((1, first), (2, second))]
    assert beginning_of(pages, 18) == pages
    assert beginning_of(pages, 17)[1].text == Marked(before="By")
    assert [page.text for page in beginning_of(pages, 7)] == [Marked(before="Dear ", mark="Ad")]


def test_a_page_that_is_a_picture_is_shown_and_says_that_it_has_no_text(
    signed_in: Browser, user: User
) -> None:
    scan = stored(user, images.image("PNG", size=(300, 200)), content_type=PNG, page_count=1, key_facts=[])
    shown = signed_in.get(viewer_of(scan)).content.decode()
    assert 'alt="Page 1, of which Sage has no text."' in shown
    mixed = stored(user, files.pdf(PAGES), text="Dear Ada\f  ")
    page = signed_in.get(f"/library/documents/{mixed.pk}/").content.decode()
    assert page.count("Sage has no text of this page.") == 1


def test_the_text_of_a_page_that_was_read_from_its_picture_stands_below_the_image(
    signed_in: Browser, user: User
) -> None:
    facts = [{"name": "Rent", "value": "EUR 900", "quote": QUOTE, "page": 3}]
    scans = files.pdf([["Dear Ada"], [], []])
    scan = stored(user, scans, text=f"Dear Ada\f{QUOTE}", page_count=3, key_facts=facts)
    DocumentText.unscoped.filter(document=scan).update(pages_read=[1, 3], page_texts={"3": QUOTE, "2": None})
    shown = signed_in.get(viewer_of(scan, fact(1, facts))).content.decode()
    assert 'alt="Page 3. Its text is below."' in shown
    assert f'<q dir="auto">{QUOTE}</q>' in shown
    assert f"<mark>{QUOTE}</mark>" in shown
    assert "The sentence isn’t marked in the image. It is below it." in shown
    unread = signed_in.get(viewer_of(scan, "?page=2")).content.decode()
    assert 'alt="Page 2, of which Sage has no text."' in unread
    assert QUOTE not in unread


def test_a_sentence_that_is_not_among_the_words_of_the_image_stands_below_it(
    signed_in: Browser, letter: Document
) -> None:
    facts = [{"name": "Deposit", "value": "EUR 5", "quote": "A deposit of EUR 5 is due.", "page": 1}]
    Document.unscoped.filter(pk=letter.pk).update(key_facts=facts)
    shown = signed_in.get(viewer_of(letter, fact(1, facts))).content.decode()
    assert marks_in(shown) == []
    assert "The sentence isn’t marked in the image. It is below it." in shown
    assert '<q dir="auto">A deposit of EUR 5 is due.</q>' in shown


def test_of_a_sentence_that_goes_on_on_the_next_page_the_beginning_is_marked_and_all_is_quoted(
    signed_in: Browser, user: User
) -> None:
    quote = "this is about your flat, which you have rented"
    facts = [{"name": "What", "value": "flat", "quote": quote, "page": 1}]
    text = "\f".join("\n".join(lines) for lines in PAGES)
    letter = stored(user, files.pdf(PAGES), text=text, key_facts=facts)
    shown = signed_in.get(viewer_of(letter, fact(1, facts))).content.decode()
    assert len(marks_in(shown)) == 1
    assert "The beginning of the sentence is marked on page 1." in shown
    assert f'<q dir="auto">{quote}</q>' in shown


def test_of_a_sentence_that_a_text_without_pages_lacks_no_image_is_spoken_of(
    signed_in: Browser, user: User
) -> None:
    facts = [{"name": "Deposit", "value": "EUR 5", "quote": "A deposit of EUR 5 is due.", "page": 1}]
    letter = stored(user, b"unused", text="Dear Ada", content_type=DOCX, page_count=1, key_facts=facts)
    shown = signed_in.get(viewer_of(letter, fact(1, facts))).content.decode()
    assert "The sentence isn’t marked in the text. It is above it." in shown


@pytest.fixture
def queue(user: User) -> list[Document]:
    """Twenty-two documents that wait for the person."""
    return [
        make_document(
            own_client(user.pk),
            f"{number}.pdf",
            text="Dear Ada",
            state=DocumentState.REVIEW,
            content_type=PDF,
            page_count=1,
            key_facts=FACTS[:1],
        )
        for number in range(22)
    ]


def test_the_review_shows_the_original_of_the_next_document(
    signed_in: Browser, queue: list[Document]
) -> None:
    page = signed_in.get("/library/review/").content.decode()
    assert f'hx-get="{viewer_of(queue[0])}?page=1" hx-trigger="intersect once"' in page
    assert f'hx-get="{viewer_of(queue[3])}{fact()}"' in page
    response = signed_in.post("/library/review/", {"accept": str(queue[18].pk)})
    following = queue[19].pk
    assert response["Location"] == f"/library/review/?document={following}#review-{following}"
    shown = signed_in.get(response["Location"]).content.decode()
    assert f'hx-get="/library/documents/{following}/viewer/?page=1" hx-trigger="intersect once"' in shown
    for document in (queue[20], queue[21]):
        response = signed_in.post("/library/review/?page=2", {"accept": str(document.pk)})
    assert response["Location"].endswith(f"#review-{queue[0].pk}"), "after the last one comes the first"
    Document.unscoped.exclude(pk=queue[1].pk).update(state=DocumentState.FILED)
    assert signed_in.post("/library/review/", {"accept": str(queue[1].pk)})["Location"] == "/library/review/"


def test_the_review_has_no_image_of_a_type_without_pages(signed_in: Browser, user: User) -> None:
    letter = stored(user, b"unused", text="Dear Ada", content_type=DOCX, page_count=1)
    page = signed_in.get("/library/review/").content.decode()
    assert f'hx-get="{viewer_of(letter)}?page=1"' in page
    assert ".webp" not in page


def test_after_a_refused_decision_the_review_stays_with_the_document_and_says_why_beside_it(
    signed_in: Browser, queue: list[Document]
) -> None:
    refused = queue[3].pk
    response = signed_in.post("/library/review/", {"correct": str(refused), f"file_type-{refused}": "rumour"})
    assert response["Location"] == f"/library/review/?document={refused}#review-{refused}"
    page = signed_in.get(response["Location"]).content.decode()
    assert page.count("That document type doesn’t exist.") == 1
    beside = page[page.index(f'id="review-{refused}"') : page.index(f'id="review-{queue[4].pk}"')]
    assert "That document type doesn’t exist." in beside
    assert f'hx-get="{viewer_of(queue[3])}?page=1" hx-trigger="intersect once"' in page
    signed_in.post("/library/review/", {"correct": str(refused), f"file_type-{refused}": "rumour"})
    elsewhere = signed_in.get("/library/review/").content.decode()
    assert elsewhere.count("That document type doesn’t exist.") == 1, (
        "nothing is lost if another page is shown"
    )
    Document.unscoped.filter(pk=refused).update(state=DocumentState.FILED)
    response = signed_in.post("/library/review/", {"accept": str(refused)})
    assert "no longer needs a review" in signed_in.get(response["Location"]).content.decode()
