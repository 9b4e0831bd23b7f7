"""Pictures of a message: shown to the model, kept bounded, and never sent against the person's will."""

import base64
import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client as Browser
from PIL import Image

from coaching.context.pictures import DROPPED, KEPT_PICTURES, MAX_PICTURES, NO_SIGHT, picture_blocks
from coaching.library.documents.pictures import keep_picture
from coaching.library.rows.attached import own_documents
from coaching.models import Document, DocumentImage, DocumentState
from coaching.practice.coach.tour import answer
from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from coaching.turns.pictures import GONE
from sessions_app.database import in_database
from sessions_app.models import Message, Session, Turn
from tests.browsers import browser_of
from tests.live_sage import LiveSage, open_socket
from tests.sockets.questions import PILLS, assert_all_accepted
from tests.sockets.test_attached import stored

pytestmark = pytest.mark.django_db(transaction=True)

MAKE, ORIENTATION = 0x010F, 0x0112


def photo() -> bytes:
    """Return a large JPEG that lies on its side and says with which camera it was taken."""
    exif = Image.Exif()
    exif[MAKE], exif[ORIENTATION] = "Secret Camera", 6
    written = io.BytesIO()
    Image.effect_noise((2_400, 1_800), 90).convert("RGB").save(written, "JPEG", exif=exif)
    return written.getvalue()


@pytest.fixture
def signed_in_browser(user: User) -> Browser:
    return browser_of(user)


def newest(practice: PracticeServer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = practice.requests[-1].body["messages"][-1]["content"]
    return blocks


def images_in(practice: PracticeServer) -> list[dict[str, Any]]:
    messages = practice.requests[-1].body["messages"]
    return [block for message in messages for block in message["content"] if block["type"] == "image"]


def keep(user: User, document_id: int, data: bytes) -> None:
    keep_picture(user_id=user.pk, document_id=document_id, data=data, media_type="image/jpeg")


def pictured(user: User, name: str) -> int:
    """Store a document that is a picture; return its id."""
    document = stored(user, name, "", state=DocumentState.REVIEW, folder="")
    keep(user, document.pk, f"picture {name}".encode())
    return document.pk


@pytest.mark.slow
def test_a_picture_of_a_message_is_shown_small_on_its_page(
    signed_in_browser: Browser, session: Session, user: User
) -> None:
    data = photo()
    form = {"files": ContentFile(data, name="garden.jpg"), "session": str(session.id)}
    signed_in_browser.post("/library/upload/", form)
    document = Document.of(user.pk).get()
    (attached,) = own_documents(user_id=user.pk, ids=[document.pk])
    assert attached.has_picture
    address = f"/library/documents/{document.pk}/small.webp"
    for _ in range(2):  # drawn, then stored
        response = signed_in_browser.get(address)
        assert response["Content-Type"] == "image/webp"
        with Image.open(io.BytesIO(response.content)) as small:
            assert small.size == (360, 480)  # upright
        assert len(response.content) < len(data) / 10
    assert bytes(DocumentImage.of(user.pk).get().thumbnail) == response.content
    Document.of(user.pk).update(is_withheld=True)
    assert signed_in_browser.get(address).status_code == 404
    (attached,) = own_documents(user_id=user.pk, ids=[document.pk])
    assert not attached.has_picture


@pytest.mark.slow
async def test_a_picture_is_seen_with_its_message_after_a_question_and_in_later_turns(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    browser = await in_database(browser_of, user)
    form = {"files": ContentFile(photo(), name="garden.jpg"), "session": str(session.id)}
    await in_database(browser.post, "/library/upload/", form)
    document = await in_database(Document.of(user.pk).get)
    practice.script([Reply.of(PILLS), "A garden.", "Green."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="What is this?", documents=[document.pk])
        await client.until("done")
        context, label, image, words = newest(practice)
        turn = await in_database(Turn.of(user.pk).get, status="awaiting_user")
        await client.send(type="answer", toolUseId=PILLS.id, value="low")
        await client.until("done")
        assert images_in(practice) == [image], "a turn that waited is resumed with its picture"
        await client.send(type="message", text="Which colour?")
        await client.until("done")
    assert "It is a picture." in context["text"]
    assert label["text"] == f"[picture: document {document.pk}]"
    assert words["text"] == "What is this?"
    data = base64.b64decode(image["source"]["data"])
    with Image.open(io.BytesIO(data), formats=["JPEG"]) as seen:
        assert seen.height > seen.width, "upright"
        assert max(seen.size) <= 1_568
        assert not seen.getexif()
    assert b"Secret Camera" not in data
    assert len(data) <= 600_000
    assert image["source"]["data"] not in turn.prefix, "its bytes aren't stored once more"
    assert images_in(practice) == [image]
    assert_all_accepted(practice, 3)


async def test_pictures_stay_bounded_and_the_person_s_will_holds(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    many = [await in_database(pictured, user, f"{number}.jpg") for number in range(MAX_PICTURES)]
    one = await in_database(pictured, user, "one.jpg")
    hidden = await in_database(stored, user, "hidden.jpg", "", is_withheld=True)
    await in_database(keep, user, hidden.pk, b"hidden")
    practice.script([f"Answer {number}." for number in range(5)])
    counts = []
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for documents in (many[:-1], [hidden.pk], [many[-1]], [one]):
            await client.send(type="message", text="And this?", documents=documents)
            await client.until("done")
            counts.append(len(images_in(practice)))
        await in_database(Document.of(user.pk).filter(id=one).update, is_withheld=True)
        await client.send(type="message", text="Thanks")
        await client.until("done")
    assert counts == [9, 9, 10, 2]
    assert counts[-1] <= KEPT_PICTURES
    sent = json.dumps(practice.requests[-1].body["messages"], ensure_ascii=False)
    assert len(images_in(practice)) == 1, "the one that was withheld since isn't sent again"
    assert sent.count(DROPPED) == len(many)
    assert base64.b64encode(b"hidden").decode() not in sent
    assert_all_accepted(practice, 5)


async def test_a_picture_that_is_deleted_while_its_turn_waits_becomes_words(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    gone = await in_database(pictured, user, "gone.jpg")
    practice.script([Reply.of(PILLS), "I saw it."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="What is this?", documents=[gone])
        await client.until("done")
        await in_database(DocumentImage.unscoped.all().delete)
        await client.send(type="answer", toolUseId=PILLS.id, value="low")
        await client.until("done")
    assert not images_in(practice)
    assert GONE in json.dumps(practice.requests[-1].body["messages"], ensure_ascii=False)
    assert_all_accepted(practice, 2)


def test_a_model_without_sight_is_told_so(user: User) -> None:
    message = Message(number=1, role="user", metadata={"pictures": {"ids": [7], "since": 0}})
    (block,) = picture_blocks(message, since=0, attached={}, has_sight=False)
    assert block == {"type": "text", "text": f"[picture: document 7, {NO_SIGHT}]"}


def test_the_tour_says_that_it_can_t_see() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}}
    content = [{"type": "text", "text": "[picture: document 7]"}, image, {"type": "text", "text": "Hello"}]
    reply = answer({"messages": [{"role": "user", "content": content}]})
    assert isinstance(reply.blocks[0], Text)
    assert "I can't see pictures" in reply.blocks[0].text
