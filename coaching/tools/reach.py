"""Which clients a call reaches: in the pipeline that of its documents, in a conversation perhaps one.

A conversation that was opened from a client is about this client, unless the user's own words name another:
an id that only a document or the model brings up isn't enough. Another user's ids, and those of a client that
can't be reached, are answered like missing ones.
"""

from dataclasses import dataclass

from coaching.engine.errors import ToolError
from coaching.library.clients import accessible_client, accessible_project, own_client
from coaching.library.rows.named_clients import clients_named_by_user
from coaching.models import Client, Document, Project, SessionScope
from coaching.tools.context import CallContext

NO_CLIENT = "There is no client with that id here. search_clients lists them."
NO_PROJECT = "That client has no project with that id. get_client_context lists them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The client that calls are about unless they say so, or None for all; new things go to its project."""

    client_id: int | None = None
    project_id: int | None = None


def reach_of(context: CallContext) -> Reach:
    """Return what a call reaches. Sync ORM code."""
    if context.binding is not None:
        return Reach(client_id=context.binding.client_id, project_id=context.binding.project_id)
    if context.session_id is None:
        return Reach()
    scope = SessionScope.of(context.user_id).filter(session_id=context.session_id).first()
    return Reach(client_id=scope.client_id, project_id=scope.project_id) if scope else Reach()


def reached_clients(context: CallContext) -> frozenset[int] | None:
    """Return the clients that a call may name, None for all of the user's. Sync ORM code.

    All for a call that has the user's yes: it was checked when they were asked, whatever is named since.
    """
    if context.is_answer:
        return None
    reach = reach_of(context)
    if reach.client_id is None:
        return None
    if context.binding is not None or context.session_id is None:
        return frozenset({reach.client_id})
    named = clients_named_by_user(user_id=context.user_id, session_id=context.session_id)
    return named | {reach.client_id}


def check_document(context: CallContext, document_id: int) -> None:
    """Check that a call reaches a document, as far as it is the user's: of its clients, or attached here.

    Raises `Document.DoesNotExist`. Sync ORM code.
    """
    reached = reached_clients(context)
    if reached is None:
        return
    document = Document.of(context.user_id).only("client_id", "session_id").get(id=document_id)
    if document.client_id not in reached and document.session_id != context.session_id:
        raise Document.DoesNotExist


def client_asked_about(
    context: CallContext, client_id: int | None, *, project_id: int | None = None
) -> int | None:
    """Return the client that a call reads, None for all of the user's. Raises `ToolError`.

    Without a client it is that of the project.
    """
    if project_id:
        project = project_asked_about(context, project_id)
        client_id = client_id or project.client_id
    return _checked(context, client_id, reach_of(context).client_id)


Place = tuple[Client, Project | None]


def place_to_write(context: CallContext, *, client_id: int | None, project_id: int | None) -> Place:
    """Return where a call writes; after the user's yes, just where they saw or chose. Raises `ToolError`."""
    if not context.is_answer or client_id is None:
        return default_place(context, client_id=client_id, project_id=project_id)
    client = _client(context, client_id)
    project = _project(context, project_id) if project_id else None
    if project and project.client_id != client.id:
        raise ToolError(NO_PROJECT)
    return client, project


def default_place(context: CallContext, *, client_id: int | None, project_id: int | None) -> Place:
    """Return where a call may write: unless it says, the client reached or the user. Raises `ToolError`."""
    reach = reach_of(context)
    project = project_asked_about(context, project_id) if project_id else None
    named = client_id or (project.client_id if project else None)
    found = _checked(context, named, reach.client_id)
    client = own_client(context.user_id) if found is None else _client(context, found)
    if project is None and reach.project_id and client.id == reach.client_id:
        project = project_asked_about(context, reach.project_id)
    if project and project.client_id != client.id:
        raise ToolError(NO_PROJECT)
    return client, project


def project_asked_about(context: CallContext, project_id: int) -> Project:
    """Return a project that can be reached. Raises `ToolError`."""
    project = _project(context, project_id)
    if not _is_reached(context, project.client_id):
        raise ToolError(NO_PROJECT)
    return project


def _checked(context: CallContext, client_id: int | None, only: int | None) -> int | None:
    if client_id is None:
        return only
    if not _is_reached(context, client_id):
        raise ToolError(NO_CLIENT)
    return _client(context, client_id).id


def _is_reached(context: CallContext, client_id: int) -> bool:
    if reach_of(context).client_id in (None, client_id):
        return True
    reached = reached_clients(context)
    return reached is None or client_id in reached


def _client(context: CallContext, client_id: int) -> Client:
    try:
        return accessible_client(user_id=context.user_id, client_id=client_id)
    except Client.DoesNotExist:
        raise ToolError(NO_CLIENT) from None


def _project(context: CallContext, project_id: int) -> Project:
    try:
        return accessible_project(user_id=context.user_id, project_id=project_id)
    except Project.DoesNotExist:
        raise ToolError(NO_PROJECT) from None
