"""A session as markdown for its user: who said what and when, questions, answers and saved files.

The user's own words are quoted line by line, so that nothing in them can look like Sage's.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.formats import date_format, time_format
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import local_day, local_moment
from coaching.downloads.zip_stream import safe_name
from coaching.legacy_text.blocks import without_block_tags
from coaching.personal_data.rows import in_batches
from coaching.transcript.calls import (
    SHOWN_STATES,
    MarkItem,
    QuestionItem,
    ShownCall,
    WrittenItem,
    calls_by_round,
    old_calls_by_round,
    written_texts,
)
from coaching.transcript.made_files import files_written, files_written_by
from coaching.transcript.names import MadeFile, note_in_words
from coaching.transcript.notices import shown_notice
from coaching.transcript.old_replies import old_calls
from coaching.transcript.ratings import ShownRating
from coaching.transcript.turn_items import rounds_of_answer
from sessions_app.models import (
    Message,
    MessageRole,
    Session,
    SessionStatus,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.selectors import read_open_turn

SLUG_CHARACTERS = 40
FILES_FROM_SESSION = "../files"
"""The files folder, relative to a session in the archive."""

Round = tuple[str, str, Sequence[ShownCall]]
"""Text, notes and calls of a round."""

_ENDS: Mapping[str, str] = {
    ToolCallState.PENDING: gettext_noop("You haven’t answered yet."),
    ToolCallState.DISMISSED: gettext_noop("Skipped."),
    ToolCallState.SUPERSEDED: gettext_noop("Answered in your own words."),
    ToolCallState.EXPIRED: gettext_noop("The conversation ended before you answered."),
}
_OUTCOMES: Mapping[str, str] = {
    "accepted": gettext_noop("You said yes."),
    "allowed": gettext_noop("You said yes."),
    "failed": gettext_noop("You said yes, but it couldn’t be done."),
    "declined": gettext_noop("You said no."),
    "undone": gettext_noop("You said yes, and undid it."),
}


def transcript_name(session: Session, *, zone: ZoneInfo) -> str:
    """Return the file name of a session's transcript: the day on which it began, its title and its id."""
    day = local_day(session.started_at, zone)
    slug = slugify(session.title)[:SLUG_CHARACTERS].strip("-") or session.kind.replace("_", "-")
    return f"{day}-{slug}-{str(session.id)[:8]}.md"


def write_transcript(
    session: Session, *, zone: ZoneInfo, has_files: bool = True
) -> Generator[str, None, None]:
    """Yield a session as markdown in the language that is active, piece by piece, with times in that zone.

    With `has_files`, the names of files link to the archive's files.
    """
    yield from _head(session, zone)
    calls = _calls_of(session)
    day: date | None = None
    for message in in_batches(session.messages.select_related("turn")):
        if message.metadata.get("is_hidden"):
            continue
        local = local_moment(message.created_at, zone)
        if local.date() != day:
            day = local.date()
            yield f"\n## {_day(day)}\n"
        yield from (
            _said(message, local)
            if message.role == MessageRole.USER
            else _answered(message, local, calls.get(message.turn_id, ()), zone, has_files)
        )
    if (turn := read_open_turn(session)) is not None:
        yield from _still_open(turn, has_files)


def _head(session: Session, zone: ZoneInfo) -> Iterator[str]:
    title = " ".join(session.title.split()) or session.get_kind_display()
    yield f"# {title}\n\n"
    begun = gettext("started %(moment)s") % {"moment": _moment(local_moment(session.started_at, zone))}
    facts = [session.get_kind_display(), begun]
    if session.folder is not None:
        facts.append(gettext("folder “%(name)s”") % {"name": session.folder.name})
    if session.ended_at is not None:
        ended = _moment(local_moment(session.ended_at, zone))
        facts.append(f"{session.get_status_display().lower()} {ended}")
    elif session.status == SessionStatus.ACTIVE:
        facts.append(gettext("still open"))
    times = gettext("Times are in the time zone %(zone)s.") % {"zone": zone.key}
    night = gettext("A day lasts until 04:00.")
    yield f"{' · '.join(facts)}. {times} {night}\n"
    if session.summary.strip():
        summary = gettext("Summary")
        yield f"\n**{summary}:** {session.summary.strip()}\n"


def _said(message: Message, local: datetime) -> Iterator[str]:
    note = _in_brackets(gettext("withdrawn")) if message.turn.is_withdrawn else ""
    you = gettext("You")
    yield f"\n### {you}, {_time(local)}{note}\n\n{_quoted(message.content)}\n"
    if message.turn.user_notice:
        yield f"\n*{shown_notice(message.turn.user_notice)}*\n"


def _answered(
    message: Message, local: datetime, records: Sequence[ToolCallRecord], zone: ZoneInfo, has_files: bool
) -> Iterator[str]:
    note = _in_brackets(gettext("withdrawn")) if message.turn.is_withdrawn else ""
    if note and message.turn.message_number is not None:
        note = _in_brackets(gettext("another answer"))
    yield f"\n### Sage, {_time(local)}{note}\n"
    calls = calls_by_round(records, is_waiting=False)
    if old := old_calls(message, zone=zone):
        texts = {text: SafeString("") for text in written_texts(message)}  # the archive has no HTML
        calls |= old_calls_by_round(old, rendered=texts)
    rounds = [
        (text, notes, calls.pop(number, ()))
        for number, (text, notes) in enumerate(rounds_of_answer(message), start=1)
    ]
    yield from _rounds([*rounds, *(("", "", late) for late in calls.values())])
    yield from _files(files_written_by(message), has_files)
    if message.turn.status == TurnStatus.STOPPED:
        stopped = gettext("You stopped this answer.")
        yield f"\n*{stopped}*\n"


def _still_open(turn: Turn, has_files: bool) -> Iterator[str]:
    text, notes = turn.words_of_running_round()
    records = sorted(turn.calls.all(), key=lambda call: (call.round_number, call.position))
    is_waiting = turn.status == TurnStatus.AWAITING_USER
    calls = calls_by_round(records, is_waiting=is_waiting)
    rounds = [(row.text, row.notes, calls.get(row.number, ())) for row in turn.rounds.all()]
    state = gettext("waiting for your answer") if is_waiting else gettext("still answering")
    yield f"\n### Sage, {state}\n"
    yield from _rounds([*rounds, (text, notes, ())])
    yield from _files(files_written(records), has_files)


def _rounds(rounds: Iterable[Round]) -> Iterator[str]:
    for text, notes, calls in rounds:
        if notes.strip():
            yield f"\n*{' '.join(note_in_words(notes).split())}*\n"
        if text.strip():
            yield f"\n{text.strip()}\n"
        for call in calls:
            match call:
                case MarkItem():
                    yield f"\n*— {call.text} —*\n"
                case WrittenItem():
                    name = ": ".join(dict.fromkeys(filter(None, (call.folder, call.name))))
                    saved = gettext("Saved to %(name)s:") % {"name": name}
                    yield f"\n**{saved}**\n\n{_quoted(without_block_tags(call.text))}\n"
                case QuestionItem():
                    yield from _question(call)


def _question(question: QuestionItem) -> Iterator[str]:
    asked = gettext("Sage asked:")
    yield f"\n**{asked}** {question.prompt}".rstrip() + "\n"
    lines = [f"- [{'x' if option.is_chosen else ' '}] {option.label}" for option in question.options]
    lines += [f"- {row.label}: {_rated(row)}" for row in question.ratings if row.new]
    lines += [f"- {label}: {words}" for label, words in question.details]
    lines += [f"- {each.label}: {' '.join(each.words.split())}" for each in question.fields if each.value]
    if lines:
        yield "\n" + "\n".join(lines) + "\n"
    if question.note.strip():
        note = gettext("Your note:")
        yield f"\n**{note}**\n\n{_quoted(question.note)}\n"
    if question.outcome:
        yield f"\n*{gettext(_OUTCOMES[question.outcome])}*\n"
    if question.state in _ENDS:
        yield f"\n*{gettext(_ENDS[question.state])}*\n"


def _rated(row: ShownRating) -> str:
    values = {"new": row.new, "old": row.old}
    return (
        gettext("%(new)s of 5, previously %(old)s") % values if row.old else gettext("%(new)s of 5") % values
    )


def _files(files: Sequence[MadeFile], has_files: bool) -> Iterator[str]:
    if files:
        names = [_linked(file) if has_files else f"{file.folder}: {file.name}" for file in files]
        saved = gettext("Saved to Files")
        yield f"\n**{saved}:** {', '.join(names)}\n"


def _linked(file: MadeFile) -> str:
    return f"[{file.folder}: {file.name}]({FILES_FROM_SESSION}/{safe_name(file.path)})"


def _calls_of(session: Session) -> Mapping[UUID, Sequence[ToolCallRecord]]:
    calls = ToolCallRecord.within(session).filter(state__in=SHOWN_STATES)
    by_turn: dict[UUID, list[ToolCallRecord]] = defaultdict(list)
    for call in calls.order_by("round_number", "position"):
        by_turn[call.turn_id].append(call)
    return by_turn


def _in_brackets(text: str) -> str:
    return f" ({text})"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _day(day: date) -> str:
    return date_format(day, "WEEKDAY_DATE_FORMAT")


def _time(local: datetime) -> str:
    return time_format(local, "TIME_FORMAT")


def _moment(local: datetime) -> str:
    return gettext("%(day)s, %(time)s") % {"day": _day(local.date()), "time": _time(local)}
