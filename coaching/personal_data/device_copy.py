"""What a browser may keep for reading offline: the journal's last 30 days, the newest conversation, as HTML.

Left out are the days on which something spoke of danger, as far as is known now, both in the journal and in
the conversation; conversations about a private file or a client, archived ones, hidden and withdrawn
messages, photos and letters. Only finished answers are in it, with what was tapped as words.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from html import unescape
from itertools import chain, groupby
from zoneinfo import ZoneInfo

from django.db.models import F, Q
from django.db.models.functions import Left
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from django.utils.safestring import SafeString

from coaching.clock.days import local_day
from coaching.library.rows.steps import steps_of_days
from coaching.life.danger_days import read_days_of_danger
from coaching.life.journal import READ_CHARACTERS, DayGlance, read_days
from coaching.life.stream import StreamDay, read_stream
from coaching.models import ClientType, Profile, UserFile
from coaching.safety.card import danger_elsewhere, danger_in, kept_danger, known_danger
from coaching.sandbox.limits import MEGABYTE
from coaching.sandbox.markdown import render_replies, render_texts
from coaching.tools.private_calls import without_private
from coaching.transcript.conversation import items_of, texts_of_history
from coaching.transcript.items import DayItem, SaidItem, TurnItem
from coaching.transcript.rows import HistoryRows, read_history
from sessions_app.models import USED, Session, TitleSource

DAYS = 30
MAX_MESSAGES = 60
MAX_BYTES = MEGABYTE
"""Of the HTML. The conversation gets at most half of it, and then the oldest days are left out."""
_NOTHING = SafeString("")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRows:
    """What a copy is written from. `heads` are the beginnings of each day's files, longer than what is shown.

    `title` is empty where it may be the first words of a message that isn't in the copy.
    """

    made_at: datetime
    zone: ZoneInfo
    days: Sequence[StreamDay]
    heads: Mapping[date, Sequence[str]]
    dangerous: Collection[date]
    title: str
    kind: str
    history: HistoryRows | None


@dataclass(slots=True)
class _Part:
    """A turn of the conversation as HTML, with the local days of its messages and answers."""

    days: Collection[date]
    is_dangerous: bool
    html: SafeString = _NOTHING


def read_copy(profile: Profile, *, now: datetime) -> CopyRows:
    """Read what a copy is written from. Sync ORM code."""
    user_id, zone = profile.user_id, profile.zone
    today = local_day(now, zone)
    first = today - timedelta(days=DAYS - 1)
    days = read_days(user_id=user_id, first=first, last=today)
    steps = steps_of_days(user_id=user_id, first=first, last=today, zone=zone)
    stream = read_stream(user_id=user_id, first=first, last=today, zone=zone, days=days, steps=steps)
    dangerous = read_days_of_danger(user_id=user_id, first=first, last=today, zone=zone)
    title, kind, history = _read_newest(user_id)
    return CopyRows(
        made_at=now,
        zone=zone,
        days=stream,
        heads=_read_heads(user_id, days),
        dangerous=dangerous,
        title=title,
        kind=kind,
        history=history,
    )


def write_copy(rows: CopyRows) -> str:
    """Write a copy as HTML in the language that is active. Rendering markdown may take seconds."""
    parts = _write_parts(rows)
    dangerous = {*rows.dangerous, *chain(*(part.days for part in parts if part.is_dangerous))}
    calm = [part.html for part in parts if dangerous.isdisjoint(part.days)]
    messages = _fitting(reversed(calm), MAX_BYTES // 2)
    left = MAX_BYTES - sum(len(piece.encode()) for piece in messages)
    has_title = len(calm) == len(parts) and rows.title and not danger_in(rows.title)
    return render_to_string(
        "coaching/components/device_copy.html",
        {
            "made_at": rows.made_at,
            "zone": rows.zone,
            "title": rows.title if has_title else rows.kind,
            "messages": messages[::-1],
            "has_earlier": len(messages) < len(calm) or bool(rows.history and rows.history.has_earlier),
            "days": _fitting(_write_days(rows, dangerous), left),
        },
    )


def _read_newest(user_id: int) -> tuple[str, str, HistoryRows | None]:
    """Return the title and kind of the newest conversation and the end of its history; None without one."""
    own = Q(scope=None) | Q(scope__client__client_type=ClientType.SELF)
    sessions = Session.of(user_id).filter(own, USED, archived_at=None)
    session = without_private(sessions, user_id=user_id).order_by("-last_active_at", "id").first()
    if session is None:
        return "", "", None
    history = read_history(session, limit=MAX_MESSAGES)
    is_known = not history.has_earlier or session.title_source in (TitleSource.MODEL, TitleSource.USER)
    return session.title if is_known else "", session.get_kind_display(), history


def _read_heads(user_id: int, days: Mapping[date, DayGlance]) -> Mapping[date, Sequence[str]]:
    paths = {path: day for day, glance in days.items() for path in glance.paths.values()}
    newest = UserFile.of(user_id).filter(path__in=paths, versions__number=F("version_number"))
    heads = defaultdict(list)
    for path, head in newest.values_list("path", Left("versions__content", READ_CHARACTERS)):
        heads[paths[path]].append(head)
    return heads


def _write_parts(rows: CopyRows) -> Sequence[_Part]:
    """Write the turns of the conversation, each with the line of the day before it, the oldest first."""
    if rows.history is None:
        return []
    parts = _unwritten_parts(rows.history, rows.zone)
    turns = {message.number: str(message.turn_id) for message in rows.history.messages}
    line = SafeString("")
    rendered = render_replies(texts_of_history(rows.history))
    for item in items_of(rows.history, zone=rows.zone, rendered=rendered):
        if not isinstance(item, DayItem | SaidItem | TurnItem):
            continue
        written = render_to_string("coaching/components/device_copy_item.html", {"item": item})
        if isinstance(item, DayItem):
            line = written
            continue
        part = parts[turns[item.number] if isinstance(item, SaidItem) else item.turn_id]
        part.html += line + written
        part.is_dangerous = part.is_dangerous or _has_danger(written)
        line = SafeString("")
    return [*parts.values()]


def _unwritten_parts(history: HistoryRows, zone: ZoneInfo) -> Mapping[str, _Part]:
    """Return the turns by their ids, with what is known of each."""
    verdicts = history.cards.verdicts
    parts: dict[str, _Part] = {}
    for turn_id, group in groupby(history.messages, key=lambda message: message.turn_id):
        messages, calls = list(group), history.calls.get(turn_id, ())
        is_dangerous = any(
            known_danger(message.metadata, verdicts.get(message.pk))
            or danger_elsewhere(message.metadata)
            or danger_in(message.content)
            for message in messages
        ) or any(kept_danger(call.metadata) for call in calls)
        moments = [message.created_at for message in messages] + [call.finished_at for call in calls]
        days = {local_day(moment, zone) for moment in moments if moment is not None}
        parts[str(turn_id)] = _Part(days=days, is_dangerous=is_dangerous)
    return parts


def _write_days(rows: CopyRows, dangerous: Collection[date]) -> Iterator[str]:
    """Yield the days, the newest first, without those of danger or with words of danger in their files."""
    html = render_texts(one.log.text for one in rows.days if one.log)
    for one in rows.days:
        if one.day in dangerous:
            continue
        context = {
            "one": one,
            "html": html[one.log.text] if one.log else "",
            "photos": len(one.photos) + one.photos_left,
            "zone": rows.zone,
        }
        written = render_to_string("coaching/components/device_copy_day.html", context)
        if not (_has_danger(written) or any(map(danger_in, rows.heads.get(one.day, ())))):
            yield written


def _has_danger(html: str) -> bool:
    return danger_in(unescape(strip_tags(html))) is not None


def _fitting(pieces: Iterable[str], most: int) -> list[str]:
    """Return the first pieces that have at most `most` bytes together."""
    kept = []
    for piece in pieces:
        most -= len(piece.encode())
        if most < 0:
            break
        kept.append(piece)
    return kept
