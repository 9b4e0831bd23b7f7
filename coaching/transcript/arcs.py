"""What a page shows about a session as a whole: its current arc, and how it ended. Read-only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import local_day
from coaching.life.arcs import next_checkin
from coaching.life.life_map import count_mapped
from coaching.models import LifeDomain, Profile, UserFileVersion
from coaching.transcript.names import ArcWords, MadeFile, arc_words, made_file
from sessions_app.arcs import current_arc
from sessions_app.models import Session, SessionKind, SessionStatus

MAX_FILES = 12
FIRST_FILES = 3
"""How many files the card at the end shows before the fold; a single one isn't folded."""

_ENDINGS = {
    SessionStatus.COMPLETED: gettext_noop("This conversation is complete."),
    SessionStatus.EXPIRED: gettext_noop("This conversation closed after a day without activity."),
    SessionStatus.ABANDONED: gettext_noop("You ended this conversation."),
}

_NOT_WHOLE = gettext_noop("That’s it for now.")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadItem:
    """The header of a conversation below its title: its current arc, and how it ended.

    `mapped` is how many parts of life have a page, of `parts`; both are 0 unless the arc is life mapping.
    """

    arc: ArcWords | None
    status: str
    mapped: int = 0
    parts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingItem:
    """The card at the end of a session that has ended. `more_files` counts those that aren't listed."""

    title: str
    summary: str
    made: Sequence[MadeFile]
    more_files: int
    next_checkin: date
    is_completed: bool
    is_whole: bool

    @property
    def first_made(self) -> Sequence[MadeFile]:
        """The files above the fold."""
        return self.made if len(self.made) <= FIRST_FILES + 1 else self.made[:FIRST_FILES]

    @property
    def folded_made(self) -> Sequence[MadeFile]:
        """The files in the fold."""
        return self.made[len(self.first_made) :]

    @property
    def folded(self) -> int:
        """How many files the fold holds, with those that aren't listed."""
        return len(self.folded_made) + self.more_files


def head_of(session: Session) -> HeadItem:
    if session.status != SessionStatus.ACTIVE:
        return HeadItem(arc=None, status=session.get_status_display())
    arc = current_arc(session)
    if arc is None or arc.arc != SessionKind.LIFE_MAPPING:
        return HeadItem(arc=arc_words(arc.arc) if arc else None, status="")
    mapped = count_mapped(session.user_id)
    return HeadItem(arc=arc_words(arc.arc), status="", mapped=mapped, parts=len(LifeDomain))


def read_ending(session: Session, *, now: datetime) -> EndingItem | None:
    """Read the end of a session; None while it is active."""
    if session.status == SessionStatus.ACTIVE:
        return None
    profile, _ = Profile.of(session.user_id).get_or_create()
    paths = _read_written_paths(session)
    is_completed = session.status == SessionStatus.COMPLETED
    arcs = session.metadata.get("arcs") or [{}]
    is_whole = not (is_completed and arcs[-1].get("still_missing"))
    return EndingItem(
        title=_title_of(session) if is_whole else gettext(_NOT_WHOLE),
        summary=session.summary,
        made=[made_file(path) for path in paths[:MAX_FILES]],
        more_files=len(paths[MAX_FILES:]),
        next_checkin=next_checkin(profile, today=local_day(now, profile.zone)),
        is_completed=is_completed,
        is_whole=is_whole,
    )


def _title_of(session: Session) -> str:
    words = arc_words(session.kind)
    if words and session.status == SessionStatus.COMPLETED:
        return words.done
    return gettext(_ENDINGS[SessionStatus(session.status)])


def _read_written_paths(session: Session) -> list[str]:
    versions = UserFileVersion.of(session.user_id).filter(session_id=session.id)
    return list(dict.fromkeys(versions.order_by("created_at", "id").values_list("file__path", flat=True)))
