"""Where the user may put a write that waits for their yes: their own clients and projects, to choose from.

A place is `client` or `client:project`, by id.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from coaching.library.clients import accessible_client, accessible_project
from coaching.library.rows.clients import choosable_places
from coaching.models import OWN_NAME, Client, Project
from coaching.tools.context import CallContext

PLACES = "places"
"""In a call's details: values and labels to choose from, and which one is meant."""
CHOSEN = "chosen"
_BETWEEN = " · "
WRONG_PLACE = _("Choose one of your clients or projects.")


def place_details(client: Client, project: Project | None) -> dict[str, Any]:
    """Return what a card says about a place that can't be chosen, or was."""
    return {_("For"): client.name, **({_("Project"): project.name} if project else {})}


def place_choices(context: CallContext, client: Client, project: Project | None) -> dict[str, Any]:
    """Return the details of a card whose place can be chosen, if there is more than one. Sync ORM code."""
    details = place_details(client, project)
    places = [(client, project), *choosable_places(user_id=context.user_id)]
    choices = {_value(*place): _BETWEEN.join(place_details(*place).values()) for place in places}
    if len(choices) == 1:
        return details
    return {**details, PLACES: {CHOSEN: _value(client, project), "choices": list(choices.items())}}


def chosen_place(context: CallContext, edits: Mapping[str, Any]) -> dict[str, int | None] | None:
    """Return the ids of the place in a user's edits; None without one.

    Raises `ValueError` for what is none, and for a client or project that isn't the user's.
    """
    given: tuple[Any, Any]
    if "place" in edits:
        client_id, _, project_id = str(edits["place"]).partition(":")
        given = (client_id, project_id or None)
    elif "client_id" in edits or "project_id" in edits:
        given = (edits.get("client_id"), edits.get("project_id"))
    else:
        return None
    client, project = map(_id, given)
    try:
        found = accessible_project(user_id=context.user_id, project_id=project) if project else None
        client = found.client_id if found and client is None else client
        if client is None or (found and found.client_id != client):
            raise ValueError
        accessible_client(user_id=context.user_id, client_id=client)
    except (Client.DoesNotExist, Project.DoesNotExist, OverflowError):
        raise ValueError from None
    return {"client_id": client, "project_id": project}


def shown_place(label: str) -> str:
    """Return a client, perhaps with a project, in the language that is active."""
    client, *project = label.split(_BETWEEN, 1)
    return _BETWEEN.join([gettext(OWN_NAME) if client == OWN_NAME else client, *project])


def choices_in(details: Mapping[str, Any]) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return the place that is meant and the choices, from a call's details; empty without any."""
    places = details.get(PLACES)
    if not isinstance(places, Mapping):
        return "", ()
    return str(places[CHOSEN]), [(str(value), shown_place(str(label))) for value, label in places["choices"]]


def _id(given: object) -> int | None:
    """Return an id: a whole number, or its digits. Raises `ValueError`."""
    if given is None or (isinstance(given, int) and not isinstance(given, bool)):
        return given
    if isinstance(given, str) and given.isascii() and given.isdigit():
        return int(given)
    raise ValueError


def _value(client: Client, project: Project | None) -> str:
    return f"{client.pk}:{project.pk}" if project else str(client.pk)
