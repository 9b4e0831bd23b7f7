"""What a conversation was opened about: a client, or a project of one."""

from django.db import transaction

from coaching.library.documents.intake import destination_of
from coaching.models import SessionScope
from sessions_app.models import Session


@transaction.atomic
def set_scope(session: Session, *, client_id: int | None, project_id: int | None) -> None:
    """Let a new conversation be about a client or project; one that is about something keeps that.

    Raises `Client.DoesNotExist` and `Project.DoesNotExist`, also for another user's.
    """
    about = destination_of(user_id=session.user_id, client_id=client_id, project_id=project_id)
    values = {"client": about.client, "project": about.project}
    SessionScope.of(session.user_id).get_or_create(session=session, defaults=values)


def check_scope(*, user_id: int, client_id: int | None, project_id: int | None) -> None:
    """Check that they are the user's. Raises `Client.DoesNotExist` and `Project.DoesNotExist`."""
    destination_of(user_id=user_id, client_id=client_id, project_id=project_id)
