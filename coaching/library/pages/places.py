"""Where a document may be moved: the choices of a form, and reading the one that was made."""

from collections.abc import Iterator

from django.utils.translation import gettext_noop

from coaching.library.rows.clients import list_clients, list_projects
from coaching.models import Document
from sessions_app.errors import Refused

UNKNOWN = gettext_noop("Choose a client or project.")


def place_choices_for(document: Document) -> list[tuple[str, str, bool]]:
    """Return the value, name and whether it is there now: its client's projects, and all clients."""
    here = f"project:{document.project_id}" if document.project_id else f"client:{document.client_id}"
    return [(value, name, value == here) for value, name in _choices(document)]


def _choices(document: Document) -> Iterator[tuple[str, str]]:
    for client in list_clients(document.user_id, is_archived=None):
        yield f"client:{client.pk}", client.shown_name
        if client.pk == document.client_id:
            for project in list_projects(document.user_id, client):
                yield f"project:{project.pk}", f"{client.shown_name}: {project.name}"


def place_in(value: str) -> dict[str, int]:
    """Return the id of the client or project in a form's value. Raises `Refused`."""
    kind, _, number = value.partition(":")
    if kind not in ("client", "project") or not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise Refused(UNKNOWN)
    return {f"{kind}_id": int(number)}
