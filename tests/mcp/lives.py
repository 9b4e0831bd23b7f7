"""What two people keep in Sage, for programs to read."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from coaching.api.mcp.access import Access
from coaching.api.mcp.calls import run_call
from coaching.files.safety_plans import PLAN_PATH
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.proposals import propose
from coaching.models import ActionItem, FileType, MadeBy, Scope, UserFile, UserFileVersion
from coaching.programs.callers import Caller
from coaching.programs.tokens import make_token
from sessions_app.models import MessageRole, Turn, TurnStatus
from tests.library.rows import make_client, make_document
from tests.messages import append_message
from tests.stored_turns import open_conversation

PLAN_SECRET = "only for a bad night"
WITHHELD_SECRET = "never for a model"
SAID_SECRET = "said to Sage alone"


def fill(user: User, secret: str) -> dict[str, int]:
    """Give a person a file, a document, a client, a step, an entry and a conversation; return ids."""
    client = make_client(user, f"Client of {secret}")
    document = make_document(client, f"lease {secret}.txt", text=f"The lease of {secret} ends in March.")
    make_document(client, "diary.txt", text=WITHHELD_SECRET, is_withheld=True)
    write(user, "life-map/career.md", FileType.DOMAIN, f"# Career\n\nBusy with {secret}.")
    write(user, PLAN_PATH, FileType.SAFETY_PLAN, PLAN_SECRET)
    own = own_client(user.pk)
    step = propose(
        user_id=user.pk,
        new=NewAction(client_id=own.id, title=f"Call about {secret}", quote=SAID_SECRET),
        made_by=MadeBy.CHAT,
        is_accepted=True,
    )
    entry = NewEntry(client_id=own.id, title=f"Rent of {secret}", content="It is high.")
    propose(user_id=user.pk, new=entry, made_by=MadeBy.USER, is_accepted=True)
    session = open_conversation(user)
    session.summary = f"They spoke of the summary of {secret}."
    session.save()
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    append_message(session=session, turn=turn, role=MessageRole.USER, content=f"{SAID_SECRET}: the lease")
    assert isinstance(step, ActionItem)
    return {"client_id": client.id, "document_id": document.id, "own_id": own.id, "step_id": step.pk}


def write(user: User, path: str, file_type: FileType, text: str) -> None:
    """Store a file with one version, as rows only."""
    file = UserFile.of(user.pk).create(path=path, file_type=file_type, version_number=1, size=len(text))
    UserFileVersion.within(file).create(
        file=file, number=1, content=text, size=len(text), sha256="0" * 64, storage_key=f"{user.pk}/{path}",
        source="user",
    )  # fmt: skip


def token_of(user: User, *scopes: str, name: str = "Shell") -> str:
    """Make a personal token; return its secret."""
    return make_token(user_id=user.pk, name=name, scopes=scopes, days=30).secret


def access_of(user: User, *scopes: Scope) -> Access:
    """Return the access of a program that has these scopes, and never loses them."""
    caller = Caller(
        user_id=user.pk,
        key=f"test:{user.pk}",
        name="Claude",
        scopes=frozenset(scopes),
        expires_at=user.date_joined,
    )
    return Access(caller=caller, check=lambda: None)


async def call(access: Access, name: str, **arguments: Any) -> Any:
    """Call a tool; return its JSON, or its text."""
    result = await run_call(access, name, arguments)
    try:
        return json.loads(result.content)
    except ValueError:
        return result.content
