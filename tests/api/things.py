"""What a person has, for requests of programs, and how each route is asked for it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.api.routes import ROUTES, Route
from coaching.files.safety_plans import PLAN_PATH
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import FileSource, FileType, MadeBy, Scope, UserFile, UserFileVersion
from coaching.programs.tokens import make_token
from sessions_app.models import Message, Session, Turn, TurnStatus
from tests.library.rows import make_document

ALL = tuple(scope.value for scope in Scope)
MISSING_ID = UUID(int=7)
FILE_PATH = "life-map/career.md"


@dataclass(frozen=True, kw_only=True)
class Things:
    """The ids of what a person has; each thing has a secret word in it."""

    file: str = "life-map/health.md"
    step: int = 999_999
    document: int = 999_999
    conversation: UUID = MISSING_ID
    turn: UUID = MISSING_ID


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request of a route: its path with the names of `Things`, and a body."""

    path: str
    body: Mapping[str, Any] | None = None
    names: Collection[str] = field(default=())


NOTHING = Things()
TURN = "/conversations/{conversation}/turns/{turn}"
REQUESTS: Mapping[str, Asked] = {
    "add_capture": Asked(path="/captures", body={"text": "Call Mira."}),
    "list_files": Asked(path="/files"),
    "add_note": Asked(path="/files", body={"title": "Numbers", "text": "42"}),
    "get_version": Asked(path="/files/{file}/versions/1"),
    "list_versions": Asked(path="/files/{file}/versions"),
    "get_file": Asked(path="/files/{file}"),
    "write_file": Asked(path="/files/{file}", body={"text": "Rewritten.", "version": 1}),
    "list_steps": Asked(path="/steps"),
    "add_step": Asked(path="/steps", body={"title": "Call Mira", "due_date": "2026-12-01"}),
    "get_step": Asked(path="/steps/{step}"),
    "change_step": Asked(path="/steps/{step}", body={"state": "done"}),
    "find": Asked(path="/search?q=secret"),
    "list_documents": Asked(path="/documents"),
    "get_document": Asked(path="/documents/{document}"),
    "list_summaries": Asked(path="/summaries"),
    "list_conversations": Asked(path="/conversations"),
    "begin_conversation": Asked(path="/conversations"),
    "get_conversation": Asked(path="/conversations/{conversation}"),
    "list_messages": Asked(path="/conversations/{conversation}/messages"),
    "send_message": Asked(path="/conversations/{conversation}/messages", body={"text": "Hello."}),
    "get_answer": Asked(path=TURN),
}
"""By the name of the route's function."""
OF_AN_OBJECT = tuple(name for name, asked in REQUESTS.items() if "{" in asked.path)


def name_of(route: Route) -> str:
    return route.run.__name__


def by_name() -> dict[str, Route]:
    return {name_of(route): route for route in ROUTES}


def token(user: User, *scopes: str, name: str = "Shell") -> str:
    """Make a token and return its secret."""
    return make_token(user_id=user.pk, name=name, scopes=scopes or ALL, days=90).secret


def ask(
    secret: str,
    name: str,
    things: Things,
    *,
    client: Client | None = None,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Request a route with a token, without one if the secret is empty; with its own body or another one."""
    asked = REQUESTS[name]
    path = "/api" + asked.path.format(**vars(things))
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    send = getattr(client or Client(), by_name()[name].method.lower())
    given = asked.body if body is None else body
    if given is None:
        return send(path, headers=headers)
    return send(path, json.dumps(given), content_type="application/json", headers=headers)


def give_things(user: User, word: str) -> Things:
    """Give a person one of each thing that programs read, and some that they never get."""
    conversation = _converse(user, word)
    keep_file(user, FILE_PATH, FileType.DOMAIN, f"{word} work is fine.")
    keep_file(user, PLAN_PATH, FileType.SAFETY_PLAN, f"{word} plan")
    client = own_client(user.pk)
    document = make_document(client, name=f"{word}.txt", text=f"{word} in a letter")
    make_document(client, name=f"{word} withheld.txt", text=f"{word} withheld", is_withheld=True)
    new = NewAction(client_id=client.pk, title=f"{word} step")
    step = propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    return Things(
        file=FILE_PATH,
        step=step.pk,
        document=document.pk,
        conversation=conversation.id,
        turn=conversation.turns.get().id,
    )


def _converse(user: User, word: str) -> Session:
    session = Session.of(user.pk).create(
        title=f"{word} title", summary=f"{word} summary", last_message_number=2
    )
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    for number, role in ((1, "user"), (2, "assistant")):
        Message.unscoped.create(
            session=session, turn=turn, number=number, role=role, content=f"{word} message {role}"
        )
    return session


def keep_file(user: User, path: str, file_type: FileType, text: str) -> UserFile:
    file = UserFile.of(user.pk).create(path=path, file_type=file_type, version_number=1, size=len(text))
    UserFileVersion.unscoped.create(
        file=file,
        number=1,
        content=text,
        size=len(text),
        sha256="",
        storage_key=str(uuid4()),
        source=FileSource.USER,
    )
    return file
