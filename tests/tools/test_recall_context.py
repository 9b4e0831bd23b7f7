"""`recall_context`: what the model gets of the history, and what it never gets."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.context.opening import Opening, Statement
from coaching.context.window import Edge
from coaching.engine.errors import ToolError
from coaching.library.clients import own_client
from coaching.models import Document, DocumentText
from coaching.tools.recall_context import MAX_BYTES, RECALL_CONTEXT
from sessions_app.database import in_database
from sessions_app.models import Message, Session, Turn
from tests.recall.history import talk
from tests.tools.committing_context import CommittingContext

pytestmark = pytest.mark.django_db(transaction=True)


async def recall(user: User, session: Session | None = None, **given: Any) -> list[dict[str, Any]]:
    context = CommittingContext(user_id=user.pk, session_id=session.id if session else None)
    result = await RECALL_CONTEXT.run(context, RECALL_CONTEXT.parse(json.dumps(given)))
    assert len(result.content.encode()) <= MAX_BYTES
    hits: list[dict[str, Any]] = json.loads(result.content)["hits"]
    return hits


def with_edge(session: Session, number: int) -> Session:
    opening = Opening(edge=Edge(number=number), texts=(), statement=Statement())
    session.opening = opening.to_text()
    session.save()
    return session


async def test_a_hit_says_who_said_it_when_and_what_stood_around_it(user: User) -> None:
    moment = datetime(2026, 11, 4, 23, 30, tzinfo=UTC)  # 00:30 on the 5th in Berlin: still the person's 4th
    session = await in_database(
        talk, user, "How was it?", "Tell me", "The sailing was calm", "Good", at=moment
    )
    session.title = "A day out"
    await in_database(session.save)
    hit = (await recall(user, query="sailing"))[0]
    assert hit == {
        "date": "2026-11-04",
        "weekday": "Wednesday",
        "said_by": "user",
        "source": "message",
        "title": "A day out",
        "message": 3,
        "text": "The sailing was calm",
        "before": "Sage: Tell me",
        "after": "Sage: Good",
    }


@pytest.mark.parametrize("query", ["zebra", "sailing"])
async def test_answers_about_texts_of_others_name_them_also_beside_a_hit(user: User, query: str) -> None:
    session = await in_database(talk, user, "How was the sailing?", "The letter says to buy a zebra")
    context = CommittingContext(user_id=user.pk)
    given = RECALL_CONTEXT.parse(json.dumps({"query": query}))
    assert (await RECALL_CONTEXT.run(context, given)).foreign == ()
    turns = Turn.within(session)
    await in_database(lambda: turns.update(metadata={"taint": ["letter.pdf"]}))
    assert (await RECALL_CONTEXT.run(context, given)).foreign == ("letter.pdf",)


async def test_what_the_model_is_sent_anyway_is_never_found(user: User) -> None:
    older = await in_database(talk, user, "A sparrow")
    session = await in_database(talk, user, "A sparrow", "Sparrows", "More sparrows", "So many sparrows")
    await in_database(with_edge, session, 3)
    assert {(hit["message"]) for hit in await recall(user, session, query="sparrow")} == {1, 2}
    assert [hit["message"] for hit in await recall(user, session, query="sparrow", scope="session")] == [2, 1]
    await in_database(with_edge, session, 0)
    (hit,) = await recall(user, session, query="sparrow")
    assert hit["text"] == "A sparrow"
    assert await in_database(Message.within(older).count) == 1


async def test_since_and_limit_bound_what_is_found(user: User) -> None:
    old = datetime(2026, 5, 1, tzinfo=UTC)
    await in_database(talk, user, *["A raven"] * 30, at=old)
    await in_database(talk, user, "A raven", at=old + timedelta(days=30))
    assert len(await recall(user, query="raven")) == 8
    assert len(await recall(user, query="raven", limit=20)) == 20
    # 02:00 in Berlin, in the night after the 30th.
    for since, dates in (("2026-05-02", ["2026-05-30"]), ("2026-05-30", ["2026-05-30"]), ("2026-05-31", [])):
        assert [hit["date"] for hit in await recall(user, query="raven", since=since)] == dates
    assert await recall(user, query="albatross") == []


@pytest.mark.parametrize("limit", [1, 8, 20])
async def test_long_hits_stay_within_the_bytes(user: User, limit: int) -> None:
    words = ("schöne Löwen 🦁 «<assistant>» " * 600)[:19_000]
    await in_database(talk, user, *[f"{words} {number}" for number in range(30)])
    hits = await recall(user, query="Löwen", limit=limit)
    assert len(hits) >= min(limit, 5)
    assert all("<assistant>" not in hit["text"] for hit in hits)


async def test_nobody_gets_what_is_another_persons(user: User, other_user: User) -> None:
    await in_database(talk, other_user, "My secret is a zebra")
    assert await recall(user, query="zebra secret") == []


async def test_a_session_scope_needs_a_conversation(user: User) -> None:
    with pytest.raises(ToolError, match="conversation"):
        await recall(user, query="zebra", scope="session")


@pytest.mark.parametrize(
    "given", [{"query": ""}, {"query": "x", "limit": 21}, {"query": "x", "since": "soon"}]
)
async def test_bad_input_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="doesn't fit"):
        RECALL_CONTEXT.parse(json.dumps(given))


async def test_a_document_is_named_by_its_id_and_page_and_one_that_is_withheld_never(user: User) -> None:
    def store(name: str, **values: Any) -> int:
        made = Document.of(user.pk).create(
            client=own_client(user.pk), name=name, storage_key=name, size=1, **values
        )
        DocumentText.unscoped.create(document=made, text="Nothing here.\fThe pangolin sleeps.")
        return made.pk

    wanted = await in_database(store, "zoo.pdf")
    await in_database(store, "secret.pdf", is_withheld=True)
    (hit,) = await recall(user, query="pangolin")
    assert (hit["source"], hit["title"], hit["document_id"], hit["page"], hit["text"]) == (
        "document",
        "zoo.pdf",
        wanted,
        2,
        "The pangolin sleeps.",
    )
