"""Verdicts about danger in a user's messages: one row each, raised and never lowered."""

import json
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from sessions_app.models import Message, MessageRole, ModelUsage, SafetyVerdict, Turn, VerdictLevel
from sessions_app.queries import Query, run_query

SEEN = frozenset(VerdictLevel.values)
"""The outcomes of second looks that came to a verdict."""
_ORDER = (VerdictLevel.NONE, VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE)

_MESSAGES, _TURNS = Message._meta.db_table, Turn._meta.db_table
_VERDICTS, _USAGE = SafetyVerdict._meta.db_table, ModelUsage._meta.db_table
_USAGE_FIELDS = {
    str(field.column): field for field in ModelUsage._meta.concrete_fields if not field.primary_key
}
# A second look follows each message, and most see nothing: the ORM needs eight statements for each. As in
# `store_verdict`, the message is locked, and a look that failed doesn't replace one that saw.
_STORE_CALM = f"""
    WITH seen AS MATERIALIZED (
        SELECT message.id AS message_id, message.session_id, seen.looked, seen.model, seen.milliseconds,
            seen.usage
        FROM json_to_recordset(%(looks)s::json)
            AS seen(message bigint, looked text, model text, milliseconds integer, usage json)
        JOIN {_MESSAGES} AS message ON message.id = seen.message
        JOIN {_TURNS} AS turn ON turn.id = message.turn_id
        WHERE NOT turn.is_withdrawn ORDER BY message.id FOR NO KEY UPDATE OF message
    ), spent AS MATERIALIZED (
        SELECT message_id, usage, nextval(pg_get_serial_sequence('{_USAGE}', 'id')) AS id
        FROM seen WHERE usage IS NOT NULL
    ), stored AS (
        INSERT INTO {_USAGE} (id, {", ".join(_USAGE_FIELDS)})
        SELECT spent.id, {", ".join(f"row.{name}" for name in _USAGE_FIELDS)}
        FROM spent, json_populate_record(NULL::{_USAGE}, spent.usage) AS row
    ), verdicts AS (
        INSERT INTO {_VERDICTS} AS known
            (session_id, message_id, level, about, topic, looked, model, milliseconds, usage_id, created_at)
        SELECT seen.session_id, seen.message_id, '{VerdictLevel.NONE}', 'self', 'life', seen.looked,
            seen.model, seen.milliseconds, spent.id, now()
        FROM seen LEFT JOIN spent USING (message_id)
        ON CONFLICT (message_id) DO UPDATE SET looked = EXCLUDED.looked, model = EXCLUDED.model,
            milliseconds = EXCLUDED.milliseconds, usage_id = EXCLUDED.usage_id
        WHERE EXCLUDED.looked = ANY(%(outcomes)s) OR NOT known.looked = ANY(%(outcomes)s)
    )
    SELECT message_id FROM seen
"""  # noqa: S608 - names of ours alone


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdict:
    """A verdict to store. `looked` is the outcome of a second look, empty for any other verdict.

    `noticed` is the level that Sage raised; `is_foreign`: in a turn that had read texts of others.
    """

    level: str
    about: str = "self"
    topic: str = "life"
    looked: str = ""
    noticed: str = ""
    is_foreign: bool = False
    model: str = ""
    milliseconds: int = 0
    usage_id: int | None = None


def is_more_acute(level: str, than: str) -> bool:
    """Return whether a level is over another one; an empty one is none."""
    return _ORDER.index(VerdictLevel(level or "none")) > _ORDER.index(VerdictLevel(than or "none"))


@transaction.atomic
def store_verdict(message_id: int, new: NewVerdict) -> bool:
    """Store a verdict or raise the stored one; return whether the level rose.

    Nothing is stored, and nothing rises, where the message is withdrawn or gone.
    """
    messages = Message.unscoped.select_for_update(of=("self",), no_key=True).filter(id=message_id)
    message = messages.filter(turn__is_withdrawn=False).only("id", "session_id").first()
    if message is None:
        return False
    row = SafetyVerdict.unscoped.filter(message=message).first()
    if row is None:
        row = SafetyVerdict(message=message, session_id=message.session_id, level=VerdictLevel.NONE)
        row.about, row.topic = new.about, new.topic
    has_risen = is_more_acute(new.level, row.level)
    if has_risen:
        row.level, row.about, row.topic = new.level, new.about, new.topic
    if new.noticed:
        row.is_foreign = new.is_foreign and (row.is_foreign or not row.noticed)
        row.noticed = new.noticed if is_more_acute(new.noticed, row.noticed) else row.noticed
    # A look that failed in another process doesn't replace one that saw.
    if new.looked and (new.looked in SEEN or row.looked not in SEEN):
        row.looked, row.model, row.milliseconds = new.looked, new.model, new.milliseconds
        row.usage_id = new.usage_id
    row.save()
    return has_risen


@dataclass(frozen=True, slots=True, kw_only=True)
class CalmLook:
    """A second look at a message that saw no danger, or nothing; `usage` is a row to store with it."""

    message_id: int
    looked: str
    model: str
    milliseconds: int
    usage: ModelUsage | None


def store_calm_looks(looks: Sequence[CalmLook]) -> Collection[int]:
    """Store looks that raise nothing, at different messages, in one statement; return the messages.

    Of a message that is withdrawn or gone, nothing is stored.
    """
    rows = [
        {
            "message": look.message_id,
            "looked": look.looked,
            "model": look.model,
            "milliseconds": look.milliseconds,
            "usage": _values_of(look.usage) if look.usage else None,
        }
        for look in looks
    ]
    values = {"looks": json.dumps(rows, cls=DjangoJSONEncoder), "outcomes": sorted(SEEN)}
    return {message_id for (message_id,) in run_query(Query(_STORE_CALM, values))}


def _values_of(row: ModelUsage) -> dict[str, Any]:
    return {column: field.pre_save(row, add=True) for column, field in _USAGE_FIELDS.items()}


def read_verdicts(session_id: uuid.UUID, messages: Iterable[Message]) -> dict[int, SafetyVerdict]:
    ids = [message.pk for message in messages if message.role == MessageRole.USER]
    if not ids:
        return {}
    rows = SafetyVerdict.unscoped.filter(session_id=session_id, message_id__in=ids)
    return {row.message_id: row for row in rows}


def read_levels(session_ids: Collection[uuid.UUID]) -> Sequence[tuple[uuid.UUID, int, str]]:
    """Return session, message number and level of all danger that readers of these sessions are shown."""
    rows = SafetyVerdict.unscoped.filter(session_id__in=session_ids).exclude(level=VerdictLevel.NONE)
    rows = rows.filter(message__turn__is_withdrawn=False).order_by("session_id", "message__number")
    return list(rows.values_list("session_id", "message__number", "level"))


def message_to_judge(turn: Turn) -> Message | None:
    """Return the user's own message that a turn answers: for a hidden one, the last before it."""
    own = turn.messages.filter(role=MessageRole.USER).order_by("number").first()
    if own is None or not own.metadata.get("is_hidden"):
        return own
    said = Message.within(turn.session).filter(role=MessageRole.USER, turn__is_withdrawn=False)
    said = said.filter(number__lt=own.number).exclude(metadata__has_key="is_hidden")
    return said.order_by("-number").first() or own
