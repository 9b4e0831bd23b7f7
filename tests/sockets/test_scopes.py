"""Conversations that are begun from a client or a project."""

import asyncio
import json
from http import HTTPStatus
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import create_client, create_project, own_client
from coaching.models import Client, ClientType, Project, SessionScope
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, Turn, TurnStatus
from tests.browsers import browser_of
from tests.live_sage import FRAME_SECONDS, LiveSage
from tests.sockets.test_openings import send
from tests.sockets.test_tenants import Row, ask, comparable

pytestmark = pytest.mark.django_db(transaction=True)


def client_of(user: User, name: str) -> tuple[Client, Project]:
    """Create a client with a project."""
    client = create_client(user_id=user.pk, name=name, client_type=ClientType.COMPANY, notes="Pays late.")
    return client, create_project(user_id=user.pk, client_id=client.pk, name=f"Yard of {name}")


@pytest.mark.parametrize("is_of_project", [False, True])
async def test_a_conversation_begun_from_a_client_or_project_is_about_it(
    live_sage: LiveSage, practice: PracticeServer, cookie: str, user: User, is_of_project: bool
) -> None:
    await in_database(own_client, user.pk)
    mill, yard = await in_database(client_of, user, "Mill Ltd")
    about = {"project": str(yard.pk)} if is_of_project else {"client": str(mill.pk)}
    practice.script(["About the mill."])
    form = {"kind": SessionKind.OPEN_CONVERSATION, "text": "What is there?", "id": "form-1", **about}
    address = await send(live_sage, cookie, "/chat/new/", **form)
    session_id = UUID(address.split("/")[2])
    finished = Turn.unscoped.filter(session_id=session_id, status=TurnStatus.COMPLETED)
    async with asyncio.timeout(FRAME_SECONDS):
        while not await in_database(finished.exists):  # noqa: ASYNC110 - another process runs it
            await asyncio.sleep(0.05)
    scope = await in_database(SessionScope.of(user.pk).get)
    assert (scope.session_id, scope.client_id) == (session_id, mill.pk)
    assert scope.project_id == (yard.pk if is_of_project else None)
    sent = json.dumps(practice.requests[-1].body["messages"])
    assert f'<client id=\\"{mill.pk}\\" name=\\"Mill Ltd\\" type=\\"company\\"' in sent
    assert "Pays late." in sent
    assert (f"Project {yard.pk}: Yard of Mill Ltd" in sent) == is_of_project
    assert await send(live_sage, cookie, "/chat/new/", **form) == address, "sent twice, begun once"
    assert await in_database(SessionScope.of(user.pk).count) == 1


def test_somebody_elses_client_or_project_is_answered_like_a_missing_one(
    user: User, other_user: User
) -> None:
    theirs, their_project = client_of(other_user, "Mill Ltd")
    mine, _ = client_of(user, "Barton")
    browser = browser_of(user)
    for field, foreign in (("client", theirs.pk), ("project", their_project.pk)):
        asked: dict[str, str] = {"kind": SessionKind.OPEN_CONVERSATION, "text": "What is there?"}
        answer, missing = (
            ask(browser, Row(path="/chat/new/", method="post", form=asked | {field: str(pk)}), "/chat/new/")
            for pk in (foreign, 999_999)
        )
        assert answer.status_code == HTTPStatus.NOT_FOUND
        assert comparable(answer) == comparable(missing)
        assert "Mill Ltd" not in answer.content.decode()
    both = {"client": str(mine.pk), "project": str(their_project.pk)}
    assert browser.post("/chat/new/", both).status_code == HTTPStatus.NOT_FOUND
    assert not Session.unscoped.exists()
    assert not SessionScope.unscoped.exists()
