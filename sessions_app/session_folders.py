"""A user's folders for sessions: made, renamed, deleted, and what is in them.

A session is in one folder or in none; it stays in the list of all. Deleting a folder deletes no session.
"""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Value
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.limits import lock_limits
from sessions_app.models import Session, SessionFolder, listed
from sessions_app.selectors import accessible_session
from sessions_app.text import is_storable

MAX_FOLDERS = 100
MAX_CHARACTERS = 60

_LISTED = listed("sessions__") & Q(sessions__archived_at=None, sessions__deleted_at=None)


def list_folders(*, user_id: int) -> Sequence[SessionFolder]:
    """Return the user's folders by name, each with the `count` of what its page shows."""
    counted = SessionFolder.of(user_id).annotate(count=Count("sessions", filter=_LISTED))
    return list(counted.order_by(Lower("name"), "id"))  # grouped queries drop the model's order


@transaction.atomic
def make_folder(*, user_id: int, name: str) -> SessionFolder:
    """Return the user's folder of that name, made if there is none. Raises `Refused`."""
    line = _checked(name)
    lock_limits(user_id=user_id)
    own = SessionFolder.of(user_id)
    if known := _named(own, line).first():
        return known
    if own.count() >= MAX_FOLDERS:
        raise Refused(
            _("You can have up to %(most)s folders. Delete one first, or use one that you have."),
            most=MAX_FOLDERS,
        )
    return own.create(name=line)


@transaction.atomic
def rename_folder(*, user_id: int, folder_id: int, name: str) -> SessionFolder:
    """Store a folder's new name. Raises `Refused`, and `SessionFolder.DoesNotExist`."""
    line = _checked(name)
    lock_limits(user_id=user_id)
    own = SessionFolder.of(user_id)
    folder = own.select_for_update(no_key=True).get(id=folder_id)
    if _named(own, line).exclude(id=folder_id).exists():
        raise Refused(_("You already have a folder with this name."))
    folder.name = line
    folder.save(update_fields=["name"])
    return folder


@transaction.atomic
def delete_folder(*, user_id: int, folder_id: int) -> str:
    """Delete a folder, whose sessions are in none then; return its name.

    Raises `SessionFolder.DoesNotExist`.
    """
    # Sessions are locked before their folder, as by `move_session`, and in order.
    inside = Session.stored_of(user_id)
    inside = inside.filter(folder=folder_id).select_for_update(no_key=True).order_by("pk")
    list(inside.values_list("pk"))
    folder = SessionFolder.of(user_id).select_for_update().get(id=folder_id)
    folder.delete()
    return folder.name


@transaction.atomic
def move_session(*, user_id: int, session_id: uuid.UUID, folder_id: int | None) -> Session:
    """Put a session into a folder, or into none.

    Raises `Session.DoesNotExist`, and `SessionFolder.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    # Locked, so that it isn't deleted before this is committed.
    own = SessionFolder.of(user_id).select_for_update(no_key=True)
    session.folder = None if folder_id is None else own.get(id=folder_id)
    session.save(update_fields=["folder"])
    return session


def _named(own: QuerySet[SessionFolder], name: str) -> QuerySet[SessionFolder]:
    """Return the folder of a name, compared as the database's constraint does."""
    return own.alias(lowered=Lower("name")).filter(lowered=Lower(Value(name)))


def _checked(name: str) -> str:
    """Return a folder's name on one line. Raises `Refused`."""
    line = " ".join(name.split())
    if not line:
        raise Refused(_("Enter a name."))
    if len(line) > MAX_CHARACTERS:
        raise Refused(
            _("A folder’s name can have up to %(most)s characters. This one has %(length)s."),
            most=MAX_CHARACTERS,
            length=len(line),
        )
    if not is_storable(line):
        raise Refused(_("This name contains a character that can’t be stored. Please remove it."))
    return line
