"""Stores what an export holds, a batch at a time: conversations, files, ratings, the profile.

What exists stays as it is, but for messages that an earlier version stored without a part of their text, and
conversations to which a newer export adds. Each batch is a transaction of its own that can be repeated: what
this import made already counts as made, what others made as skipped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.clock.timezones import known_timezones
from coaching.context.budget import count_tokens
from coaching.files.edits import build_imported
from coaching.files.errors import FileMoved, FileRefused
from coaching.files.paths import type_of_path
from coaching.files.store import store_imported
from coaching.legacy.answering import store_answers
from coaching.legacy.branching import by_session
from coaching.legacy.completing import complete
from coaching.legacy.importers.things import FoundFile, FoundProfile, FoundRating, Problem
from coaching.legacy.newer import Found, store_newer
from coaching.legacy.tally import Tally
from coaching.models import FileSource, Import, Profile, PulseRating, TimezoneSource, UserFile
from sessions_app.imports import known_sessions, store_recorded
from sessions_app.recorded import RecordedSession
from sessions_app.text import mended

LINE_TOKENS = 25
"""What a brief's request adds to each message."""

NO_PLACE = gettext_noop("Sage has no place for a file with this path, so it was skipped.")
FILE_EXISTS = gettext_noop("You already have this file. It stays as it is.")
UNKNOWN_ZONE = gettext_noop("Sage doesn’t know this time zone.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where an import stores. Without `row` it is a dry run, which only counts."""

    user_id: int
    row: Import | None
    timezone: ZoneInfo
    now: datetime

    @property
    def import_id(self) -> int | None:
        return self.row.pk if self.row else None

    @property
    def mark(self) -> str:
        """What the first version of a file made by this import is marked with."""
        return mark_of(self.import_id or 0)


def mark_of(import_id: int) -> str:
    """Return the mark in the versions that an import has made."""
    return f"import:{import_id}"


def store_sessions(target: Target, recorded: Sequence[RecordedSession], tally: Tally) -> None:
    """Store the sessions that the user doesn't have yet, and what is new in those of earlier imports.

    Conversations come with all their other branches.
    """
    first = {each.imported_id: each for each in reversed(recorded)}
    tally.skipped += len(recorded) - len(first)
    by_id = {each.imported_id: each for each in by_session(target.user_id, [*first.values()][::-1], tally)}
    known = known_sessions(user_id=target.user_id, imported_ids=by_id.keys())
    old = [(known[key], each) for key, each in by_id.items() if key in known]
    mine = [(held, each) for held, each in old if held.import_id == target.import_id]
    _count_made(tally, [each for _, each in mine])
    _store_new(target, [each for key, each in by_id.items() if key not in known], tally)
    user_id, import_id = target.user_id, target.import_id
    completed = complete(user_id=user_id, import_id=import_id, found=old, tally=tally)
    others = [(held, each) for held, each in old if held.import_id != import_id]
    newer = store_newer(user_id=user_id, import_id=import_id, found=others, tally=tally, completed=completed)
    answered = store_answers(
        user_id=user_id, import_id=import_id, found=others, tally=tally, appended=newer.appended
    )
    _store_new(target, newer.branches, tally)
    _store_answers_of_an_older_run(target, mine, tally)
    branches = {held.session_id for held, each in others if each.branch_of}
    tally.skipped -= len({*answered} - {*completed, *newer.appended, *branches})


def _store_new(target: Target, new: Sequence[RecordedSession], tally: Tally) -> None:
    _count_made(tally, new)
    if target.import_id is not None and new:
        store_recorded(user_id=target.user_id, import_id=target.import_id, recorded=new)


def _count_made(tally: Tally, made: Sequence[RecordedSession]) -> None:
    for each in made:
        tally.sessions += not each.branch_of
        tally.branches += bool(each.branch_of)
        tally.messages += len(each.said)
        tally.answers += len(each.answers)
        tally.brief_tokens += sum(count_tokens(said.content) + LINE_TOKENS for said in each.said)


def _store_answers_of_an_older_run(target: Target, mine: Found, tally: Tally) -> None:
    """Bring answers to sessions that this import made with a version without them; they are counted."""
    aside = Tally()
    store_answers(user_id=target.user_id, import_id=target.import_id, found=mine, tally=aside)
    for problem in aside.problems:
        tally.report(problem)


def store_file(target: Target, found: FoundFile, tally: Tally) -> None:
    """Store a file unless there is one of its path. Raises `StorageFailed`."""
    file_type = type_of_path(found.path)
    if file_type is None:
        tally.report(Problem(where=found.where, text=NO_PLACE))
        return
    held = UserFile.of(target.user_id).filter(path=found.path, version_number__gt=0).first()
    if held is not None:
        if is_made_by(target, held):
            tally.files += 1
        else:
            tally.skipped += 1
            tally.report(Problem(where=found.where, text=FILE_EXISTS, is_lost=False))
        return
    try:
        draft = build_imported(
            file_type,
            found.path,
            content=mended(found.content),
            now=min(found.updated_at, target.now),
            timezone=target.timezone,
        )
        if target.row is not None:
            store_imported(user_id=target.user_id, draft=draft, mark=target.mark)
    except FileMoved:
        tally.skipped += 1
    except FileRefused as refused:
        tally.report(Problem(where=found.where, text=str(refused)))
    else:
        tally.files += 1


def is_made_by(target: Target, held: UserFile) -> bool:
    """Return whether this import made a file that exists."""
    first = held.versions.filter(number=1, source=FileSource.IMPORT, tool_use_id=target.mark)
    return target.row is not None and first.exists()


@transaction.atomic
def store_ratings(target: Target, found: Iterable[FoundRating], tally: Tally) -> None:
    """Store the ratings of moments for which there is none."""
    wanted = {(each.domain, min(each.rated_at, target.now)): each for each in found}
    moments = {rated_at for _, rated_at in wanted}
    held = {
        (domain, rated_at): import_id
        for domain, rated_at, import_id in PulseRating.of(target.user_id)
        .filter(rated_at__in=moments)
        .values_list("domain", "rated_at", "made_by_import_id")
    }
    new = [
        PulseRating(
            user_id=target.user_id,
            domain=domain,
            rating=each.rating,
            rated_at=rated_at,
            made_by_import=target.row,
        )
        for (domain, rated_at), each in wanted.items()
        if (domain, rated_at) not in held
    ]
    mine = sum(target.row is not None and held.get(key) == target.row.pk for key in wanted)
    tally.ratings += len(new) + mine
    tally.skipped += len(wanted) - len(new) - mine
    if target.row is not None:
        PulseRating.of(target.user_id).bulk_create(new)


@transaction.atomic
def fill_profile(target: Target, found: FoundProfile, tally: Tally) -> None:
    """Fill the empty fields of the profile; a time zone that a browser or the user set isn't empty."""
    profile = Profile.of(target.user_id).select_for_update().first() or Profile(user_id=target.user_id)
    filled: dict[str, str] = {}
    name = " ".join(mended(found.name).split())[:100]
    if name and not profile.name:
        profile.name = filled["name"] = name
    if found.timezone and profile.timezone_source == TimezoneSource.NOBODY:
        if found.timezone in known_timezones():
            profile.timezone = filled["timezone"] = found.timezone
            profile.timezone_source = TimezoneSource.USER
        else:
            tally.report(Problem(where=f"{found.where}.timezone", text=UNKNOWN_ZONE))
    if filled and target.row is not None:
        profile.save()
        target.row.profile = {**target.row.profile, **filled}
        target.row.save(update_fields=["profile"])
