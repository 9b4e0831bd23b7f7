"""Captures: adding, listing, archiving and restoring them.

A capture is a file in the versioned store; the row next to it says whether it is still waiting. Nothing here
deletes: an archived capture stays in Files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Count, F, Window
from django.db.models.functions import Left
from django.utils.text import Truncator
from django.utils.translation import gettext_noop

from coaching.files.drafts import FileDraft, build_draft
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.objects import StoredObject, store_object_now
from coaching.files.quota import lock_usage, refuse_when_full
from coaching.files.store import store_version
from coaching.files.types import RULES
from coaching.life.capture_verdicts import note_capture
from coaching.models import Capture, FileSource, FileType, UserFileVersion
from coaching.people.attempts import AttemptLimit
from coaching.people.help_lines import count_card
from coaching.safety.danger import Danger
from sessions_app.errors import Refused
from sessions_app.text import check_client_id, id_of_words

MAX_CAPTURE_CHARACTERS = 20_000
MAX_IN_A_MINUTE = 30
SHOWN_CHARACTERS = 1_000
LINE_CHARACTERS = 120
_READ_CHARACTERS = 4_000
_limit = AttemptLimit(attempts=MAX_IN_A_MINUTE, seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCapture:
    """A capture in a list. `text` may be truncated: then `is_cut`. `program` names the one that sent it."""

    id: int
    path: str
    text: str
    is_cut: bool
    captured_at: datetime
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCaptures:
    """Some waiting captures, newest first, the number on earlier pages, and the total."""

    newest: Sequence[WaitingCapture]
    total: int
    before: int = 0

    @property
    def more(self) -> int:
        return max(0, self.total - self.before - len(self.newest))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedCapture:
    """A capture in a log: its first line, and the log."""

    path: str
    line: str
    folded_on: date

    @property
    def log_path(self) -> str:
        return f"{RULES[FileType.DAILY_LOG].place}/{self.folded_on.isoformat()}.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedCaptures:
    """Some captures in logs, newest first, and how many there are in total."""

    newest: Sequence[FoldedCapture]
    total: int


def read_waiting_captures(*, user_id: int, limit: int, before: int = 0) -> WaitingCaptures:
    """Read the newest waiting captures after the first `before`, in one query."""
    found = (
        Capture.of(user_id)
        .waiting()
        .filter(file__versions__number=F("file__version_number"))
        .annotate(head=Left("file__versions__content", _READ_CHARACTERS), total=Window(Count("id")))
        .annotate(program=F("file__versions__program"))
        .order_by("-captured_at", "-id")
        .values_list("id", "file__path", "head", "captured_at", "total", "program", named=True)
    )
    rows = list(found[before : before + limit])
    newest = [_shown(row.id, row.file__path, row.head, row.captured_at, row.program) for row in rows]
    return WaitingCaptures(newest=newest, total=rows[0].total if rows else 0, before=before)


def read_folded_captures(
    *, user_id: int, limit: int, before: int = 0, day: date | None = None
) -> FoldedCaptures:
    """Read the newest captures in logs, or in the log of one day, in one query."""
    captures = Capture.of(user_id).present().exclude(folded_on=None)
    folded = captures if day is None else captures.filter(folded_on=day)
    rows = list(
        folded.filter(file__versions__number=F("file__version_number"))
        .annotate(head=Left("file__versions__content", _READ_CHARACTERS), total=Window(Count("id")))
        .order_by("-folded_on", "-captured_at", "-id")
        .values_list("file__path", "head", "folded_on", "total", named=True)[before : before + limit]
    )
    newest = [
        FoldedCapture(
            path=row.file__path,
            line=Truncator(" ".join(strip_frontmatter(row.head).split())).chars(LINE_CHARACTERS),
            folded_on=row.folded_on,
        )
        for row in rows
        if row.folded_on
    ]
    return FoldedCaptures(newest=newest, total=rows[0].total if rows else 0)


def keep_capture(
    *,
    user_id: int,
    text: object,
    client_id: object,
    now: datetime,
    timezone: ZoneInfo,
    danger: Danger | None = None,
    program: str = "",
) -> Capture:
    """Store a capture on the user's day, once for the same words. Raises `Refused` and stores nothing then.

    Other words under the same client id are another capture. For a new one the `danger` in its words is
    stored with it, and the card for it is counted. `program` is the name of the program that sent it, empty
    for the user.
    """
    words, sent_id = _content_of(text), check_client_id(client_id) or ""
    if kept := _sent_before(user_id, sent_id, words)[0]:
        return kept
    draft = build_draft(file_type=FileType.CAPTURE, content=words, now=now, timezone=timezone)
    refuse_when_full(user_id=user_id, size=len(draft.data))
    _limit.count(user_id)
    stored = store_object_now(user_id=user_id, data=draft.data)
    with transaction.atomic():
        lock_usage(user_id)  # the same one at once waits for this one
        kept, own_id = _sent_before(user_id, sent_id, words)
        if kept is not None:
            return kept
        kept = _store(
            user_id=user_id, draft=draft, stored=stored, client_id=own_id, danger=danger, program=program
        )
    if danger is not None:
        count_card(danger.level, now=now)
    return kept


def _sent_before(user_id: int, client_id: str, words: str) -> tuple[Capture | None, str]:
    """Return the capture that these words have made under a client id, or the id for the one they make now.

    Words under the id of others get one of their own; without one they are a capture each time.
    """
    names = (client_id, id_of_words(client_id, words)) if client_id else ()
    for name in names:
        kept = Capture.of(user_id).filter(client_id=name).select_related("file").first()
        if kept is None or _first_words(kept) == words:
            return kept, name
    return None, ""


def _first_words(capture: Capture) -> str | None:
    """Return the words that a capture was made with, whatever its user has made of them since."""
    first = UserFileVersion.within(capture.file).filter(number=1).first()
    return strip_frontmatter(first.content).strip() if first else None


def set_archived(*, user_id: int, capture_id: int, at: datetime | None) -> None:
    """Archive a capture, whose file stays; with None, make it wait again. Raises `Capture.DoesNotExist`."""
    if not Capture.of(user_id).filter(id=capture_id).update(put_away_at=at):
        raise Capture.DoesNotExist


def archive_captures_up_to(*, user_id: int, now: datetime, newest_id: int) -> int:
    """Archive all captures up to that one, which its sender has seen; return how many."""
    return Capture.of(user_id).waiting().filter(id__lte=newest_id).update(put_away_at=now)


def _store(
    *,
    user_id: int,
    draft: FileDraft,
    stored: StoredObject,
    client_id: str,
    danger: Danger | None,
    program: str,
) -> Capture:
    file = store_version(user_id=user_id, draft=draft, stored=stored, source=FileSource.USER, program=program)
    capture = Capture.of(user_id).get(file_id=file.file_id)
    capture.client_id = client_id
    capture.save(update_fields=["client_id"])
    note_capture(user_id=user_id, file_id=file.file_id, version=file.version, danger=danger)
    return capture


def _content_of(text: object) -> str:
    """Return the text as a file body: nothing in a person's own words is frontmatter."""
    if not isinstance(text, str) or not text.strip():
        raise Refused(gettext_noop("Please write something first."))
    words = text.replace("\r\n", "\n")  # a form's line breaks, which the page counts as one character
    if len(words) > MAX_CAPTURE_CHARACTERS:
        raise Refused(
            gettext_noop(
                "This has %(count)s characters; the limit is %(most)s. Please split it into several captures."
            ),
            count=len(words),
            most=MAX_CAPTURE_CHARACTERS,
        )
    words = words.strip()
    return words if strip_frontmatter(words) == words else f"\\{words}"


def _shown(capture_id: int, path: str, head: str, captured_at: datetime, program: str) -> WaitingCapture:
    body = strip_frontmatter(head).strip()
    is_cut = len(body) > SHOWN_CHARACTERS or len(head) == _READ_CHARACTERS
    return WaitingCapture(
        id=capture_id,
        path=path,
        text=body[:SHOWN_CHARACTERS],
        is_cut=is_cut,
        captured_at=captured_at,
        program=program,
    )
