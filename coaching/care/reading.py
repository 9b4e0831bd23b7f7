"""Reads what is remembered after danger from the messages, so that it follows whatever becomes of them.

A message that was edited or whose conversation was deleted is no danger any more, and a verdict that comes
late counts from the next read on. Stored besides are only the days of Sage's questions and that somebody
wants none.
"""

import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import JSONObject

from coaching.care.standing import OWN_DAYS, Asked, Care, Ended, Place, SaidDanger, care_on
from coaching.clock.days import local_day
from coaching.models import CaptureVerdict, CareAsk, CareEnd, Photo
from coaching.safety.card import ELSEWHERE_KEY, METADATA_KEY, danger_elsewhere, danger_of, kept_danger
from coaching.safety.danger import Danger
from sessions_app.models import (
    OPEN_TURN_STATUSES,
    RETRIED_TURN_STATUSES,
    Message,
    MessageRole,
    ToolCallRecord,
    ToolCallState,
    TurnStatus,
    VerdictLevel,
)
from sessions_app.queries import Query, Rows, parameter, prepared, run_query

REACH = timedelta(days=max(OWN_DAYS.values()) + 2)
"""How far back is read: the longest time, and a day for other time zones at both ends."""
LOOK_KEY = "second_look"
"""In an answered call's metadata: how a look at its words ended (`level`), and the rules' level (`rules`)."""


def care_query(*, user_id: int, now: datetime) -> Query:
    """Return the query whose rows `care_of` takes; `now` is aware."""
    return _rows(user=user_id, since=now - REACH, since_day=(now - REACH).date())


def care_of(rows: Rows, *, now: datetime, zone: ZoneInfo) -> Care:
    """Return what is remembered at `now` (aware) from the rows of `care_query`."""
    found: dict[str, list[tuple[datetime, Mapping[str, Any]]]] = {}
    for kind, at, values in rows:
        found.setdefault(kind, []).append((at, json.loads(values) if isinstance(values, str) else values))
    ends = [Ended(at=at, on=local_day(at, zone), how=values["how"]) for at, values in found.get("ended", ())]
    dangers = [
        danger
        for kind in ("message", "answer", "capture", "photo")
        for at, values in found.get(kind, ())
        for danger in _dangers(at, values, zone)
    ]
    return care_on(
        local_day(now, zone),
        dangers=dangers,
        asked=[asked for _, values in found.get("asked", ()) for asked in _asked(values)],
        ended=max(ends, key=lambda end: end.at, default=None),
    )


def read_care(*, user_id: int, now: datetime, zone: ZoneInfo) -> Care:
    """Read what is remembered of a person at `now` (aware); `zone` is theirs. Sync ORM code."""
    return care_of(run_query(care_query(user_id=user_id, now=now)), now=now, zone=zone)


@prepared
def _rows() -> QuerySet[Any, Any]:
    """Return the rows of all kinds: what they are, when, and their values."""
    of_rules, of_verdicts = _messages()
    return of_rules.union(of_verdicts, _answers(), _captures(), _photos(), _asks(), _ends(), all=True)


def _messages() -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    messages = Message.of(parameter("user")).filter(
        session__deleted_at=None, turn__is_withdrawn=False, created_at__gte=parameter("since")
    )
    messages = messages.filter(role=MessageRole.USER).order_by()
    later = _own_messages(session=OuterRef("session"), number__gt=OuterRef("number"))
    values = JSONObject(
        safety=F(f"metadata__{METADATA_KEY}"),
        elsewhere=F(f"metadata__{ELSEWHERE_KEY}"),
        level=F("safety_verdict__level"),
        about=F("safety_verdict__about"),
        topic=F("safety_verdict__topic"),
        looked=F("safety_verdict__looked"),
        noticed=F("safety_verdict__noticed"),
        is_foreign=F("safety_verdict__is_foreign"),
        session=F("session_id"),
        number=F("number"),
        was_last=~Exists(later),
    )
    keys = [METADATA_KEY, ELSEWHERE_KEY]
    marked = messages.filter(metadata__has_any_keys=keys)
    judged = messages.exclude(metadata__has_any_keys=keys)
    judged = judged.filter(safety_verdict__level__in=[VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE])
    return (
        marked.values_list(Value("message"), "created_at", values),
        judged.values_list(Value("message"), "created_at", values),
    )


def _answers() -> QuerySet[Any, Any]:
    calls = ToolCallRecord.of(parameter("user")).filter(
        turn__session__deleted_at=None, turn__is_withdrawn=False, finished_at__gte=parameter("since")
    )
    calls = calls.filter(state=ToolCallState.ANSWERED, metadata__has_key=METADATA_KEY).order_by()
    values = JSONObject(
        safety=F(f"metadata__{METADATA_KEY}"),
        look=F(f"metadata__{LOOK_KEY}"),
        session=F("turn__session_id"),
    )
    return calls.values_list(Value("answer"), "finished_at", values)


def _captures() -> QuerySet[Any, Any]:
    """Return the captures whose words stand as they were judged."""
    verdicts = CaptureVerdict.of(parameter("user")).in_force().filter(created_at__gte=parameter("since"))
    verdicts = verdicts.filter(level__in=[VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE]).order_by()
    values = JSONObject(
        level=F("level"), about=F("about"), topic=F("topic"), looked=F("looked"), by_rules=F("by_rules")
    )
    return verdicts.values_list(Value("capture"), "created_at", values)


def _photos() -> QuerySet[Any, Any]:
    """Return the photos whose descriptions speak of danger."""
    photos = Photo.of(parameter("user")).filter(described_at__gte=parameter("since"))
    photos = photos.filter(danger_level__in=[VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE]).order_by()
    values = JSONObject(level=F("danger_level"), about=F("danger_about"), topic=F("danger_topic"))
    return photos.values_list(Value("photo"), "described_at", values)


def _asks() -> QuerySet[Any, Any]:
    """Return the days of questions, with what has become of the turn that should ask."""
    asks = CareAsk.of(parameter("user")).filter(asked_on__gte=parameter("since_day")).order_by()
    own = Message.unscoped.filter(session=OuterRef("session"), number=OuterRef("message_number"))
    said = Message.unscoped.filter(
        role=MessageRole.ASSISTANT,
        turn__messages__session=OuterRef("session"),
        turn__messages__number=OuterRef("message_number"),
    )
    values = JSONObject(
        on=F("asked_on"),
        about=F("about"),
        session=F("session_id"),
        number=F("message_number"),
        status=Subquery(own.values("turn__status")[:1]),
        is_withdrawn=Subquery(own.values("turn__is_withdrawn")[:1]),
        has_words=Exists(said.exclude(content="")),
        is_unread=F("session__is_only_opened"),
    )
    return asks.values_list(Value("asked"), "created_at", values)


def _ends() -> QuerySet[Any, Any]:
    """Return when somebody wanted no more questions; not where they have edited that message away."""
    ends = CareEnd.of(parameter("user")).filter(ended_at__gte=parameter("since")).order_by()
    withdrawn = Message.unscoped.filter(
        session=OuterRef("session"), number=OuterRef("message_number"), turn__is_withdrawn=True
    )
    ends = ends.filter(~Exists(withdrawn))
    return ends.values_list(Value("ended"), "ended_at", JSONObject(how=F("how")))


def _own_messages(**where: Any) -> QuerySet[Message]:
    own = Message.unscoped.filter(role=MessageRole.USER, turn__is_withdrawn=False, **where)
    return own.exclude(metadata__has_key="is_hidden")


def _dangers(at: datetime, values: Mapping[str, Any], zone: ZoneInfo) -> Iterator[SaidDanger]:
    place = None
    if values.get("number") is not None:
        place = Place(session_id=uuid.UUID(values["session"]), number=values["number"])
    elsewhere = danger_elsewhere({ELSEWHERE_KEY: values.get("elsewhere")})
    for danger in (*_own_words(values), *([elsewhere] if elsewhere else [])):
        yield SaidDanger(
            level=danger.level,
            about=danger.about,
            topic=danger.topic,
            at=at,
            day=local_day(at, zone),
            place=place,
            was_last=values.get("was_last"),
            is_imported=danger is elsewhere,
        )


def _own_words(values: Mapping[str, Any]) -> Iterator[Danger]:
    """Yield the danger in what the person wrote, by the rules, a second look and Sage.

    A look that saw none ends a concern of the rules alone. What Sage has raised in turns that had read texts
    of others may be about those: then only the rules and the look count.
    """
    rules = kept_danger({METADATA_KEY: values.get("safety")})
    look = values.get("look") or {}
    looked = values.get("looked") or look.get("level")
    is_foreign = bool(values.get("is_foreign"))
    level = looked if is_foreign else values.get("level")
    by_rules = look.get("rules") or values.get("by_rules") or (rules.level if rules else "none")
    # Only Sage can have raised a message above both.
    is_noticed = not is_foreign and bool(values.get("noticed") or level == "immediate")
    if by_rules == "concern" and looked == VerdictLevel.NONE and not is_noticed:
        return
    seen = danger_of(level, values.get("about"), values.get("topic"))
    yield from (danger for danger in (rules, seen) if danger is not None)


def _asked(values: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield a question unless its turn failed or was withdrawn before Sage could ask."""
    place = None
    if values["session"] is not None:
        place = Place(session_id=uuid.UUID(values["session"]), number=values["number"])
    status = values["status"]
    if values["is_withdrawn"] or (status in RETRIED_TURN_STATUSES and not _was_stopped_late(values)):
        return
    if status is not None and status not in OPEN_TURN_STATUSES and not values["has_words"]:
        return
    yield Asked(
        on=datetime.fromisoformat(values["on"]).date(),
        about=values["about"],
        place=place,
        is_unread=bool(values["is_unread"]),
    )


def _was_stopped_late(values: Mapping[str, Any]) -> bool:
    return values["status"] == TurnStatus.STOPPED and bool(values["has_words"])
