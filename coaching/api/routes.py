"""All routes for programs under `/api/`, in one table: what each needs, does and answers.

A route is let in by its scope alone, so one that isn't in the table doesn't exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.security.http import HttpAuthBase

from coaching.api import captures, conversations, files, library, messages, steps
from coaching.api.errors import handle_errors
from coaching.api.keys import HEADER, MAX_CHARACTERS
from coaching.api.values import (
    Answer,
    ChangedStep,
    Conversation,
    Document,
    DocumentWithText,
    File,
    FileVersion,
    FileWithText,
    Found,
    KeptCapture,
    Message,
    Page,
    Step,
    Summary,
    WrittenFile,
)
from coaching.models import Scope
from coaching.programs.callers import Caller
from coaching.programs.entrance import admit
from sessions_app.database import in_database

DESCRIPTION = (
    "What programs may do for a person, by a token from Settings → Programs. Each route needs one scope. "
    "What a program sends counts as words of somebody else: Sage asks the person before it acts on them."
)
Method = Literal["GET", "POST", "PUT", "PATCH"]
OK, CREATED, ACCEPTED = HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route: `returns` are its schemas by status. `has_key`: it takes an `Idempotency-Key`."""

    method: Method
    path: str
    scope: Scope
    run: Callable[..., Any]
    returns: Mapping[int, Any]
    is_async: bool = False
    has_key: bool = False


FILE = "/files/{path:path}"
CONVERSATION = "/conversations/{uuid:conversation_id}"

ROUTES: Sequence[Route] = (
    Route(
        method="POST",
        path="/captures",
        scope=Scope.CAPTURE,
        run=captures.add_capture,
        returns={CREATED: KeptCapture},
        has_key=True,
    ),
    Route(method="GET", path="/files", scope=Scope.READ, run=files.list_files, returns={OK: Page[File]}),
    Route(
        method="POST",
        path="/files",
        scope=Scope.WRITE,
        run=files.add_note,
        returns={CREATED: File},
        has_key=True,
    ),
    # Before the file itself, whose path may have any number of parts.
    Route(
        method="GET",
        path=f"{FILE}/versions/{{int:version}}",
        scope=Scope.READ,
        run=files.get_version,
        returns={OK: FileWithText},
    ),
    Route(
        method="GET",
        path=f"{FILE}/versions",
        scope=Scope.READ,
        run=files.list_versions,
        returns={OK: Page[FileVersion]},
    ),
    Route(method="GET", path=FILE, scope=Scope.READ, run=files.get_file, returns={OK: FileWithText}),
    Route(
        method="PUT",
        path=FILE,
        scope=Scope.WRITE,
        run=files.write_file,
        returns={OK: WrittenFile},
        has_key=True,
    ),
    Route(method="GET", path="/steps", scope=Scope.READ, run=steps.list_steps, returns={OK: Page[Step]}),
    Route(
        method="POST",
        path="/steps",
        scope=Scope.WRITE,
        run=steps.add_step,
        returns={CREATED: Step},
        has_key=True,
    ),
    Route(method="GET", path="/steps/{step_id}", scope=Scope.READ, run=steps.get_step, returns={OK: Step}),
    Route(
        method="PATCH",
        path="/steps/{step_id}",
        scope=Scope.WRITE,
        run=steps.change_step,
        returns={OK: ChangedStep},
        has_key=True,
    ),
    Route(method="GET", path="/search", scope=Scope.READ, run=library.find, returns={OK: Found}),
    Route(
        method="GET",
        path="/documents",
        scope=Scope.READ,
        run=library.list_documents,
        returns={OK: Page[Document]},
    ),
    Route(
        method="GET",
        path="/documents/{document_id}",
        scope=Scope.READ,
        run=library.get_document,
        returns={OK: DocumentWithText},
    ),
    Route(
        method="GET",
        path="/summaries",
        scope=Scope.READ,
        run=library.list_summaries,
        returns={OK: Page[Summary]},
    ),
    Route(
        method="GET",
        path="/conversations",
        scope=Scope.CHAT,
        run=conversations.list_conversations,
        returns={OK: Page[Conversation]},
    ),
    Route(
        method="POST",
        path="/conversations",
        scope=Scope.CHAT,
        run=conversations.begin_conversation,
        returns={CREATED: Conversation},
        has_key=True,
    ),
    Route(
        method="GET",
        path=CONVERSATION,
        scope=Scope.CHAT,
        run=conversations.get_conversation,
        returns={OK: Conversation},
    ),
    Route(
        method="GET",
        path=f"{CONVERSATION}/messages",
        scope=Scope.CHAT,
        run=conversations.list_messages,
        returns={OK: Page[Message]},
    ),
    Route(
        method="POST",
        path=f"{CONVERSATION}/messages",
        scope=Scope.CHAT,
        run=messages.send_message,
        returns={OK: Answer, ACCEPTED: Answer},
        is_async=True,
        has_key=True,
    ),
    Route(
        method="GET",
        path=f"{CONVERSATION}/turns/{{uuid:turn_id}}",
        scope=Scope.CHAT,
        run=conversations.get_answer,
        returns={OK: Answer},
    ),
)


class Token(HttpAuthBase):
    """Lets a program in by its token and a scope. Unlike ninja's own class it logs no header."""

    openapi_scheme = "bearer"

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        super().__init__()

    def __call__(self, request: HttpRequest) -> Caller:
        """Return the program. Raises what `coaching.api.errors` answers."""
        return admit(request.headers.get("Authorization", ""), self._scope)


class AsyncToken(Token):
    """The same for asynchronous routes."""

    async def __call__(self, request: HttpRequest) -> Caller:  # type: ignore[override]  # ninja awaits it
        return await in_database(super().__call__, request)


KEY_PARAMETER: Mapping[str, Any] = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "The same key with the same body twice is one request, with another body another one.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_CHARACTERS, "pattern": "^[ -~]+$"},
}


def build_api() -> NinjaAPI:
    """Return the interface with the routes of the table. `docs` adds the failures to its description."""
    made = NinjaAPI(
        title="Sage",
        version="1",
        description=DESCRIPTION,
        docs_url=None,
        openapi_url=None,
        urls_namespace="api",
    )
    handle_errors(made)
    for route in ROUTES:
        name = route.run.__name__
        made.default_router.add_api_operation(
            route.path,
            [route.method],
            route.run,
            auth=(AsyncToken if route.is_async else Token)(route.scope),
            response={int(status): schema for status, schema in route.returns.items()},
            operation_id=name,
            url_name=name,
            summary=name.replace("_", " ").capitalize(),
            tags=[route.scope.value],
            openapi_extra={"parameters": [KEY_PARAMETER]} if route.has_key else None,
        )
    return made


api = build_api()
PATTERNS = [each for each in api.urls[0] if getattr(each, "name", "") != "api-root"]
"""The URLs of the table alone: ninja's own would answer at the root."""
