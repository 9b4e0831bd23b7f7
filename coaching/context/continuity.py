"""What was said in earlier sessions: the sections `recent_sessions` and `left_open` of an opening.

Words of danger are quoted in neither: a session with danger shows a summary only where the summary job wrote
it, which leaves danger out, and none of its open lines.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, with_weekday
from coaching.context.brief_lines import corrected_lines
from coaching.context.closeness import CITATION, is_mostly_in, says_struck
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence, fence_value
from coaching.context.sentences import cut_words, first_words, last_words, sentences_of
from coaching.models import ImportFormat
from sessions_app.english import in_english
from sessions_app.models import BriefCorrection, CorrectionKind, SessionKind, SessionStatus
from sessions_app.queries import Rows

SUMMARY_WORDS = 60
SUMMARY_CHARACTERS = 480
WORDS_CHARACTERS = 200
"""Of a person's first or last words."""
SINGLE_WORDS = 40
MAX_LEFT_OPEN = 3
ADDRESSED = {"you": "the user"}
"""Summaries and briefs address the person, and everything else of a request addresses Sage."""
LINE_CHARACTERS = 200
PROGRAMS: Mapping[str, str] = {ImportFormat.CHATGPT: "ChatGPT", ImportFormat.CLAUDE: "Claude"}
"""The names of other programs by the formats of their exports; one of Sage's own isn't another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentSession:
    """A session in which the person said something.

    `first`, `second` and `last` are their words outside of danger, `second` empty where they said two things
    and `last` where they said one; `since` is what they said after the summary. `left_open` are lines without
    citations. `client` names the client that it was opened from, empty for the person's own. `imported_from`
    names the program that an imported one was recorded by, where that is known.
    """

    id: uuid.UUID
    kind: str
    day: date
    summary: str = ""
    since: str = ""
    first: str = ""
    second: str = ""
    last: str = ""
    left_open: Sequence[str] = field(default=())
    is_imported: bool = False
    imported_from: str = ""
    client: str = ""


def recent_of(rows: Rows, zone: ZoneInfo) -> Sequence[RecentSession]:
    """Return the sessions of the rows of `recent_sessions`, the newest first."""
    newest_first = sorted(rows, key=lambda row: row[3], reverse=True)
    return [_recent(values, zone) for values in newest_first]


def recent_sessions(sessions: Sequence[RecentSession], *, is_about_client: bool = False) -> Section | None:
    """Show the last sessions, each with its day, kind, and what it was about, as far as that can be said.

    In a conversation that is about a client, the person's own sessions are marked.
    """
    told = [session for session in _of_client_first(sessions) if session.summary or session.first]
    entries = tuple(_entry(session, is_private=is_about_client and not session.client) for session in told)
    return Section(name="recent_sessions", attributes=ADDRESSED, entries=entries) if entries else None


def left_open(sessions: Sequence[RecentSession]) -> Section | None:
    """Show what was left open in sessions that still go on."""
    lines = [(line, session) for session in _of_client_first(sessions) for line in session.left_open]
    entries = tuple(
        Entry(
            key=line,
            tag="line",
            attributes={"date": with_weekday(session.day), "client": session.client},
            text=fence_value(line, LINE_CHARACTERS),
        )
        for line, session in lines[:MAX_LEFT_OPEN]
    )
    return Section(name="left_open", attributes=ADDRESSED, entries=entries) if entries else None


def _of_client_first(sessions: Sequence[RecentSession]) -> Sequence[RecentSession]:
    """Return the sessions with those of the client that the conversation is about before the others."""
    return sorted(sessions, key=lambda session: not session.client)


def _recent(values: Sequence[Any], zone: ZoneInfo) -> RecentSession:
    session_id, kind, status, active_at, covers, last_number, imported_until, more = values
    found: Mapping[str, Any] = json.loads(more) if isinstance(more, str) else more
    goes_on = status == SessionStatus.ACTIVE
    is_summary_clean = bool(covers) or not found["has_danger"]
    corrections = [BriefCorrection(**each) for each in found["corrections"] or ()]
    summary = _without_struck(found["summary"], corrections) if is_summary_clean else ""
    is_told = bool(summary) and (not covers or covers >= last_number - 1)
    # What was corrected may be in the words themselves.
    words = ("first", "second", "last")
    first, second, last = ("" if corrections else found[name] or "" for name in words)
    second = second if found["has_third"] else ""
    return RecentSession(
        id=session_id,
        kind=kind,
        day=local_day(active_at, zone),
        summary=cut_words(summary, words=SUMMARY_WORDS, characters=SUMMARY_CHARACTERS),
        since="" if is_told or not summary else last_words(last, characters=WORDS_CHARACTERS),
        **_first_and_last(first, second, last),
        left_open=_open_lines(found, corrections) if goes_on and not found["has_danger"] else (),
        is_imported=bool(imported_until) and imported_until == last_number,
        imported_from=PROGRAMS.get(found["import_format"], ""),
        client=found["client"] or "",
    )


def _without_struck(summary: str, corrections: Sequence[BriefCorrection]) -> str:
    """Return a summary without what was struck: one that Sage gave isn't written anew."""
    struck = [each.line for each in corrections if each.kind == CorrectionKind.STRIKE]
    if not struck:
        return summary
    sentences = sentences_of(summary)
    return " ".join(each for each in sentences if not any(says_struck(line, each) for line in struck))


def _open_lines(found: Mapping[str, Any], corrections: Sequence[BriefCorrection]) -> Sequence[str]:
    """Return the open lines that a brief still has after what its person corrected and struck.

    What became a next step is told there, as it is now: a step may be done meanwhile, a line isn't.
    """
    brief = found["brief"]
    if not brief or not brief["left_open"]:
        return ()
    kept = corrected_lines(brief["text"], corrections)
    lines = [line for line in brief["left_open"].splitlines() if line in kept]
    steps = [_words_of_step(step) for step in found["steps"] or ()]
    lines = [line for line in lines if not any(is_mostly_in(line, step) for step in steps)]
    return [" ".join(CITATION.sub("", line).split()) for line in lines]


def _words_of_step(step: Mapping[str, str | None]) -> str:
    due = with_weekday(date.fromisoformat(step["due"])) if step["due"] else ""
    return f"{step['title']}. {step['quote']} {due}"


def _entry(session: RecentSession, *, is_private: bool) -> Entry:
    attributes = {
        "date": with_weekday(session.day),
        "kind": in_english(SessionKind(session.kind).label).lower(),
        "imported": (session.imported_from or "yes") if session.is_imported else "",
        "client": session.client,
        "private": "yes" if is_private else "",
    }
    return Entry(key=str(session.id), tag="session", attributes=attributes, text=_words(session))


def _words(session: RecentSession) -> str:
    if session.summary:
        since = f" Later they said: “{fence(session.since)}”" if session.since else ""
        return f"{fence(session.summary)}{since}"
    if not session.last:
        return f"They said: “{fence(session.first)}”"
    second = f" Then: “{fence(session.second)}”" if session.second else ""
    return f"Their first words: “{fence(session.first)}”{second} Their last words: “{fence(session.last)}”"


def _first_and_last(first: str, second: str, last: str) -> Mapping[str, str]:
    """Return the first words of the first two messages and the last of the last, or more of a single one.

    The first one often only greets.
    """
    if first == last:
        return {"first": cut_words(first, words=SINGLE_WORDS, characters=2 * WORDS_CHARACTERS)}
    return {
        "first": first_words(first, characters=WORDS_CHARACTERS),
        "second": first_words(second, characters=WORDS_CHARACTERS),
        "last": last_words(last, characters=WORDS_CHARACTERS),
    }
