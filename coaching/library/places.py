"""Where entries and action items belong: checked ids, and how many of them there may be."""

from django.utils.translation import gettext_noop

from coaching.library.clients import accessible_client, accessible_project
from coaching.models import ActionItem, Document, KnowledgeEntry, Project
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused

MAX_ROWS = 10_000
"""Of a user's knowledge entries, and of their action items."""
_LOCK = 0x11B1
"""The namespace of the lock under which they are counted."""

WRONG_CLIENT = gettext_noop("The document belongs to another client.")


def place_of(
    *, user_id: int, client_id: int, project_id: int | None, document_id: int | None
) -> dict[str, int | None]:
    """Return the checked ids of a new row.

    Raises `DoesNotExist` of the model whose row is missing, and `Refused` for a document of another client.
    """
    client = accessible_client(user_id=user_id, client_id=client_id)
    if project_id and accessible_project(user_id=user_id, project_id=project_id).client_id != client.id:
        raise Project.DoesNotExist
    if document_id and Document.of(user_id).get(id=document_id).client_id != client.id:
        raise Refused(WRONG_CLIENT)
    return {"client_id": client.id, "project_id": project_id or None, "document_id": document_id or None}


def check_room(model: type[KnowledgeEntry] | type[ActionItem], *, user_id: int, full: str) -> None:
    """Lock the user's rows of a model against other additions. Raises `Refused` where there are too many."""
    lock_until_commit(_LOCK, user_id % 2**31)
    if model.of(user_id).count() >= MAX_ROWS:
        raise Refused(full, most=MAX_ROWS)
