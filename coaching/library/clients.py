"""Clients and projects: whom documents are about. Another user's looks missing."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from coaching.models import OWN_NAME, Client, ClientStatus, ClientType, Project
from coaching.people.own_changes import own_changes
from coaching.people.profile_changes import offer_library
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused
from sessions_app.lock_spaces import LockSpace

MAX_CLIENTS = 500
MAX_PROJECTS = 2_000
ONLY_ONE_SELF = gettext_noop("You’re already in the list as a client.")
SELF_STAYS = gettext_noop("Your own part of the library can’t be archived.")
CLIENTS_FULL = gettext_noop("You can have up to %(most)s clients. Delete one that you no longer need.")
PROJECTS_FULL = gettext_noop("You can have up to %(most)s projects. Delete one that you no longer need.")
CLIENT_EXISTS = gettext_noop("There’s already a client with that name.")
PROJECT_EXISTS = gettext_noop("%(client)s already has a project with that name.")
NAME_LENGTH = gettext_noop("A name can have 1 to 120 characters.")


def own_client(user_id: int) -> Client:
    """Return the client that is the user, made on first use."""
    own = Client.of(user_id).filter(client_type=ClientType.SELF).first()
    if own is None:
        values = {"user_id": user_id, "name": OWN_NAME, "client_type": ClientType.SELF}
        # Another process may make it at the same time; a client of this name gets it otherwise.
        Client.of(user_id).bulk_create([Client(**values)], ignore_conflicts=True)
        own = Client.of(user_id).filter(client_type=ClientType.SELF).first()
    if own is None:
        own = Client.of(user_id).create(name=f"{OWN_NAME} (my own)", client_type=ClientType.SELF)
    return own


def accessible_client(*, user_id: int, client_id: int) -> Client:
    """Return the user's client. Raises `Client.DoesNotExist` for a missing one and for another user's."""
    return Client.of(user_id).get(id=client_id)


def accessible_project(*, user_id: int, project_id: int) -> Project:
    """Return the user's project with its client. Raises `Project.DoesNotExist`."""
    return Project.of(user_id).select_related("client").get(id=project_id)


@transaction.atomic
def create_client(
    *,
    user_id: int,
    name: str,
    client_type: ClientType,
    status: ClientStatus = ClientStatus.ACTIVE,
    notes: str = "",
) -> Client:
    """Create a client. Raises `Refused`."""
    if client_type == ClientType.SELF:
        raise Refused(ONLY_ONE_SELF)
    lock_until_commit(LockSpace.CLIENTS, user_id % 2**31)
    if Client.of(user_id).count() >= MAX_CLIENTS:
        raise Refused(CLIENTS_FULL, most=MAX_CLIENTS)
    try:
        with transaction.atomic():
            client = Client.of(user_id).create(
                name=_name(name), client_type=client_type, status=status, notes=notes.strip()[:2_000]
            )
    except IntegrityError:
        raise Refused(CLIENT_EXISTS) from None
    offer_library(user_id)
    return client


@transaction.atomic
def create_project(*, user_id: int, client_id: int, name: str, notes: str = "") -> Project:
    """Create a project of a client. Raises `Refused` and `Client.DoesNotExist`."""
    client = accessible_client(user_id=user_id, client_id=client_id)
    lock_until_commit(LockSpace.CLIENTS, user_id % 2**31)
    if Project.of(user_id).count() >= MAX_PROJECTS:
        raise Refused(PROJECTS_FULL, most=MAX_PROJECTS)
    try:
        with transaction.atomic():
            return Project.of(user_id).create(client=client, name=_name(name), notes=notes.strip()[:2_000])
    except IntegrityError:
        raise Refused(PROJECT_EXISTS, client=client.name) from None


@transaction.atomic
def change_client(
    *, user_id: int, client_id: int, changes: Mapping[str, Any], seen: Mapping[str, Any] | None = None
) -> Client:
    """Change fields of a client: `name` as it is shown, `client_type`, `status`, `notes`.

    The status of an archived client is the one that it gets when it is restored. With the values that were
    `seen`, only what differs from them is changed. The user stays the one of type `self`. Raises
    `EditConflict`, `Refused` and `Client.DoesNotExist`.
    """
    client = Client.of(user_id).select_for_update().get(id=client_id)
    is_archived = client.status == ClientStatus.ARCHIVED
    client.status = client.unarchived_status
    present = {"name": client.shown_name} | {
        name: getattr(client, name) for name in ("client_type", "status", "notes")
    }
    _change(client, changes, seen=seen, present=present)
    is_own = client.client_type == ClientType.SELF
    if (present["client_type"] == ClientType.SELF) != is_own:
        raise Refused(ONLY_ONE_SELF)
    if is_own and client.status != ClientStatus.ACTIVE:
        raise Refused(SELF_STAYS)
    if is_archived:
        _archive(client)
    try:
        with transaction.atomic():
            client.save()
    except IntegrityError:
        raise Refused(CLIENT_EXISTS) from None
    return client


@transaction.atomic
def archive_client(*, user_id: int, client_id: int) -> None:
    """Archive a client, which gets its status back when it is restored.

    Raises `Refused` and `Client.DoesNotExist`.
    """
    client = Client.of(user_id).select_for_update().get(id=client_id)
    if client.client_type == ClientType.SELF:
        raise Refused(SELF_STAYS)
    if client.status != ClientStatus.ARCHIVED:
        _archive(client)
        client.save()


@transaction.atomic
def restore_client(*, user_id: int, client_id: int) -> None:
    """Give an archived client the status that it had. Raises `Client.DoesNotExist`."""
    client = Client.of(user_id).select_for_update().get(id=client_id)
    client.status = client.unarchived_status
    client.save()


def _archive(client: Client) -> None:
    client.was_prospect = client.status == ClientStatus.PROSPECT
    client.status = ClientStatus.ARCHIVED


@transaction.atomic
def change_project(
    *, user_id: int, project_id: int, changes: Mapping[str, Any], seen: Mapping[str, Any] | None = None
) -> Project:
    """Change fields of a project: `name`, `status`, `notes`; with what was `seen`, as `change_client` does.

    Raises `EditConflict`, `Refused` and `Project.DoesNotExist`.
    """
    project = Project.of(user_id).select_for_update(of=("self",)).select_related("client").get(id=project_id)
    present = {name: getattr(project, name) for name in ("name", "status", "notes")}
    _change(project, changes, seen=seen, present=present)
    try:
        with transaction.atomic():
            project.save()
    except IntegrityError:
        raise Refused(PROJECT_EXISTS, client=project.client.name) from None
    return project


def _change(
    row: Client | Project,
    changes: Mapping[str, Any],
    *,
    seen: Mapping[str, Any] | None,
    present: Mapping[str, Any],
) -> None:
    """Set fields of a locked row. Raises `EditConflict` and `Refused`."""
    stored = dict(changes)
    if "name" in changes:
        stored["name"] = _name(changes["name"])
    if "notes" in changes:
        stored["notes"] = changes["notes"].strip()[:2_000]
    for name in own_changes(changes, seen=seen, present=present, stored=stored):
        setattr(row, name, stored[name])


def _name(name: str) -> str:
    """Return a name on one line. Raises `Refused`."""
    kept = " ".join(name.replace("\x00", "").split())
    if not kept or len(kept) > 120:
        raise Refused(NAME_LENGTH)
    return kept
