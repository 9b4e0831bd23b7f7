"""A user's request for a turn, from a socket or a page down to the service that opens the turn."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sessions_app.queries import Condition

RequestKind = Literal["opening", "message", "edit", "retry", "again", "continue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One request for a turn: what each user action asks for, and the opening, in which Sage speaks first.

    Only a message and an edit have a text, a client id and documents, as the client sent them: the services
    check them. `program` is the name of the program that sent it, empty for the user. `access` must hold
    before anything that was read is used; None where it was checked before.
    """

    kind: RequestKind
    user_id: int
    session_id: UUID
    text: object = None
    client_id: object = None
    documents: object = None
    program: str = ""
    access: Condition | None = None

    @property
    def has_text(self) -> bool:
        return self.kind in ("message", "edit")
