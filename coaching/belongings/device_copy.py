"""What a browser may keep for reading offline: the journal's last 30 days, the newest conversation, as HTML.

Left out are days and turns of danger, conversations about a private file, archived ones, hidden and withdrawn
messages, photos and letters. Only finished answers are in it, with what was tapped as words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from html import unescape
from itertools import chain
from zoneinfo import ZoneInfo

from django.db.models import F
from django.db.models.functions import Left
from django.template.loader import render_to_string
from django.utils.html import strip_tags

from coaching.clock.days import local_day
from coaching.library.rows.steps import steps_of_days
from coaching.life.danger_days import read_days_of_danger
from coaching.life.journal import READ_CHARACTERS, DayGlance, read_days
from coaching.life.stream import StreamDay, read_stream
from coaching.models import FileType, Profile, UserFile
from coaching.safety.card import danger_elsewhere, danger_in, kept_danger, known_danger
from coaching.sandbox.markdown import render_replies, render_texts
from coaching.tools.private_calls import without_private
from coaching.transcript.conversation import items_of, texts_of_history
from coaching.transcript.items import DayItem, SaidItem, TurnItem
from coaching.transcript.rows import HistoryRows, read_history
from sessions_app.models import USED, Session, TitleSource

DAYS = 30
MAX_MESSAGES = 60
MAX_BYTES = 1_000_000
"""Of the HTML. The conversation gets at most half of it, and then the oldest days are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRows:
    """What a copy is written from. `logs` are the beginnings of the days' logs, longer than what is shown."""

    made_at: datetime
    zone: ZoneInfo
    days: Sequence[StreamDay]
    logs: Mapping[date, str]
    title: str
    history: HistoryRows | None


def read_copy(profile: Profile, *, now: datetime) -> CopyRows:
    """Read what a copy is written from. Sync ORM code."""
    user_id, zone = profile.user_id, profile.zone
    today = local_day(now, zone)
    first = today - timedelta(days=DAYS - 1)
    days = read_days(user_id=user_id, first=first, last=today)
    steps = steps_of_days(user_id=user_id, first=first, last=today, zone=zone)
    stream = read_stream(user_id=user_id, first=first, last=today, zone=zone, days=days, steps=steps)
    dangerous = read_days_of_danger(user_id=user_id, first=first, last=today, zone=zone)
    title, history = _read_newest(user_id)
    return CopyRows(
        made_at=now,
        zone=zone,
        days=[one for one in stream if one.day not in dangerous],
        logs=_read_logs(user_id, days),
        title=title,
        history=history,
    )


def write_copy(rows: CopyRows) -> str:
    """Write a copy as HTML in the language that is active. Rendering markdown may take seconds."""
    said = list(_write_messages(rows))
    messages = _fitting(said, MAX_BYTES // 2)
    left = MAX_BYTES - sum(len(piece.encode()) for piece in messages)
    return render_to_string(
        "coaching/components/device_copy.html",
        {
            "made_at": rows.made_at,
            "zone": rows.zone,
            "title": rows.title,
            "messages": messages[::-1],
            "has_earlier": len(messages) < len(said) or bool(rows.history and rows.history.has_earlier),
            "days": _fitting(_write_days(rows), left),
        },
    )


def _read_newest(user_id: int) -> tuple[str, HistoryRows | None]:
    """Return the newest conversation's title and the end of its history; None without a conversation."""
    sessions = Session.of(user_id).filter(USED, archived_at=None)
    session = without_private(sessions, user_id=user_id).order_by("-last_active_at", "id").first()
    if session is None:
        return "", None
    history = read_history(session, limit=MAX_MESSAGES)
    calm = _calm(history)
    is_whole = not history.has_earlier and len(calm.messages) == len(history.messages)
    return _title_of(session, is_whole=is_whole), calm


def _title_of(session: Session, *, is_whole: bool) -> str:
    """Return a title, unless it is the first words of a message that may have been left out."""
    is_known = is_whole or session.title_source in (TitleSource.MODEL, TitleSource.USER)
    title = session.title if is_known and not danger_in(session.title) else ""
    return title or session.get_kind_display()


def _read_logs(user_id: int, days: Mapping[date, DayGlance]) -> Mapping[date, str]:
    paths = {glance.paths[FileType.DAILY_LOG]: day for day, glance in days.items() if glance.has_log}
    newest = UserFile.of(user_id).filter(path__in=paths, versions__number=F("version_number"))
    heads = newest.values_list("path", Left("versions__content", READ_CHARACTERS))
    return {paths[path]: head for path, head in heads}


def _calm(history: HistoryRows) -> HistoryRows:
    """Return a piece of history without turns in which anything spoke of danger."""
    verdicts = history.cards.verdicts
    said = (
        message.turn_id
        for message in history.messages
        if known_danger(message.metadata, verdicts.get(message.pk))
        or danger_elsewhere(message.metadata)
        or danger_in(message.content)
    )
    answered = (call.turn_id for call in chain(*history.calls.values()) if kept_danger(call.metadata))
    dangerous = {*said, *answered}
    return replace(history, messages=[row for row in history.messages if row.turn_id not in dangerous])


def _write_messages(rows: CopyRows) -> Iterator[str]:
    """Yield what was said, and the lines between days, the newest first."""
    if rows.history is None:
        return
    rendered = render_replies(texts_of_history(rows.history))
    for item in reversed(items_of(rows.history, zone=rows.zone, rendered=rendered)):
        if isinstance(item, DayItem | SaidItem | TurnItem):
            yield render_to_string("coaching/components/device_copy_item.html", {"item": item})


def _write_days(rows: CopyRows) -> Iterator[str]:
    """Yield the days, the newest first, without those whose words are of danger."""
    html = render_texts(one.log.text for one in rows.days if one.log)
    for one in rows.days:
        context = {
            "one": one,
            "html": html[one.log.text] if one.log else "",
            "photos": len(one.photos) + one.photos_left,
            "zone": rows.zone,
        }
        written = render_to_string("coaching/components/device_copy_day.html", context)
        if not (danger_in(rows.logs.get(one.day)) or danger_in(unescape(strip_tags(written)))):
            yield written


def _fitting(pieces: Iterable[str], most: int) -> list[str]:
    """Return the first pieces that have at most `most` bytes together."""
    kept = []
    for piece in pieces:
        most -= len(piece.encode())
        if most < 0:
            break
        kept.append(piece)
    return kept
