"""Where entries and next steps belong: checks the ids, and how many rows there may be."""

from django.utils.translation import gettext_noop

from coaching.models import ActionItem, Client, Document, KnowledgeEntry, Project
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused
from sessions_app.lock_spaces import LockSpace

MAX_ROWS = 10_000
"""Of a user's knowledge entries, and of their next steps."""

WRONG_CLIENT = gettext_noop("The document belongs to another client.")


class NoRoom(Refused):
    """The user has as many rows of a model as there may be."""


def locked_place(
    *, user_id: int, client_id: int, project_id: int | None, document_id: int | None
) -> dict[str, int | None]:
    """Return the checked ids of a new row, of which none is deleted until the transaction ends.

    Raises `DoesNotExist` of the model whose row is missing, and `Refused` for a document of another client.
    """
    document = None
    if document_id:
        document = Document.of(user_id).select_for_update(no_key=True).get(id=document_id)
    client = Client.of(user_id).select_for_update(no_key=True).get(id=client_id)
    if project_id:
        Project.of(user_id).select_for_update(no_key=True).get(id=project_id, client_id=client_id)
    if document and document.client_id != client.id:
        raise Refused(WRONG_CLIENT)
    return {"client_id": client.id, "project_id": project_id or None, "document_id": document_id or None}


def lock_additions(user_id: int) -> None:
    """Let nobody else add entries or next steps of this user until the transaction ends."""
    lock_until_commit(LockSpace.ADDITIONS, user_id % 2**31)


def check_room(model: type[KnowledgeEntry] | type[ActionItem], *, user_id: int, full: str) -> None:
    """Raise `NoRoom` with the sentence `full` where the user has too many rows of a model."""
    if model.of(user_id).count() >= MAX_ROWS:
        raise NoRoom(full, most=MAX_ROWS)
