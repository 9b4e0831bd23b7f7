"""The library's tools: offered from the first document, client or note on, and never within an open turn."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import create_client, own_client
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.proposals import propose
from coaching.models import ClientType, DocumentSource, MadeBy, Profile
from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.files.conftest import disk_storage
from tests.live_sage import LiveSage, open_socket
from tests.sockets.questions import PILLS, ask

__all__ = ["disk_storage"]

pytestmark = pytest.mark.django_db(transaction=True)

SEARCH = "search_knowledge_bank"


def offered(practice: PracticeServer) -> list[str]:
    """Return the names of the tools of the newest request for an answer."""
    return [tool["name"] for tool in practice.requests[-1].body["tools"]]


async def test_the_tools_come_with_the_turn_after_the_first_client_and_stay(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(PILLS), "Fine.", "Here they are.", "Still."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        before = practice.requests[-1].body
        assert SEARCH not in offered(practice)
        made = await in_database(create_client, user_id=user.pk, name="Mum", client_type=ClientType.PERSON)
        await client.send(type="answer", toolUseId="toolu_pills", value="low")
        await client.until("done")
        assert practice.requests[-1].body["tools"] == before["tools"], "an open turn keeps its prefix"
        assert practice.requests[-1].body["system"] == before["system"]
        await client.send(type="message", text="And my documents?")
        await client.until("done")
        assert SEARCH in offered(practice)
        assert offered(practice)[: len(before["tools"])] == [tool["name"] for tool in before["tools"]]
        await in_database(made.delete)
        await client.send(type="message", text="Thanks")
        await client.until("done")
        assert SEARCH in offered(practice), "for good: each change costs the cached prefix"


@pytest.mark.usefixtures("disk_storage")
@pytest.mark.parametrize("begun", ["document", "client", "note", "action", "own"])
def test_what_begins_a_library(begun: str, user: User) -> None:
    own = own_client(user.pk)
    place: dict[str, Any] = {"user_id": user.pk, "made_by": MadeBy.USER, "is_accepted": True}
    match begun:
        case "document":
            destination = destination_of(user_id=user.pk, source=DocumentSource.UPLOAD)
            take_in(user_id=user.pk, name="lease.txt", data=b"Five years.", destination=destination)
        case "client":
            create_client(user_id=user.pk, name="Mum", client_type=ClientType.PERSON)
        case "note":
            propose(new=NewEntry(client_id=own.pk, title="Door", content="1234"), **place)
        case "action":
            propose(new=NewAction(client_id=own.pk, title="Call the landlord"), **place)
    has_library = Profile.of(user.pk).filter(has_library=True).exists()
    assert has_library == (begun in ("document", "client", "note"))
