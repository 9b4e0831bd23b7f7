"""How a turn begins: the request it was asked with, what was said with its message, the session's opening.

One write, before the first request: what was sent must be there to be sent again exactly so.
"""

from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.db.models import F, JSONField, Value
from django.db.models.expressions import CombinedExpression

from sessions_app.errors import StaleFence
from sessions_app.models import Message, Session, Turn, TurnStatus
from sessions_app.turn_records import TurnKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What a turn begins with.

    `opening` is the session's new one, None where it stays; `session_metadata` is joined to the session's
    own then. `message_metadata` replaces that of the message `message_id`, `turn_metadata` the turn's.
    """

    model: str
    prefix: str
    message_id: int
    message_metadata: dict[str, Any]
    turn_metadata: dict[str, Any]
    opening: str | None = None
    session_metadata: dict[str, Any] = field(default_factory=dict)


@transaction.atomic
def store_beginning(key: TurnKey, beginning: Beginning) -> None:
    """Store what the turn begins with.

    The user waits for it, so it doesn't wait for the disk: the first round's commit brings it there, too,
    and without a round a new request can be built. Raises `StaleFence`.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
    if beginning.opening is not None:  # the session's row before the turn's, as everywhere
        _store_opening(key, beginning)
    mine = Turn.objects.filter(id=key.turn_id, fence=key.fence, status=TurnStatus.RUNNING)
    if not mine.update(model=beginning.model, prefix=beginning.prefix, metadata=beginning.turn_metadata):
        raise StaleFence(str(key.turn_id))
    Message.objects.filter(id=beginning.message_id, turn=key.turn_id).update(
        metadata=beginning.message_metadata
    )


def _store_opening(key: TurnKey, beginning: Beginning) -> None:
    sessions = Session.objects.filter(turns=key.turn_id)
    if not beginning.session_metadata:
        sessions.update(opening=beginning.opening)
        return
    joined = CombinedExpression(
        F("metadata"),
        "||",
        Value(beginning.session_metadata, output_field=JSONField()),
        output_field=JSONField(),
    )
    sessions.update(opening=beginning.opening, metadata=joined)
