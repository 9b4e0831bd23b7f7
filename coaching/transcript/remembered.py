"""A session's brief for its page: lines with their citations, and what the user said about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from coaching.context.brief_lines import CORRECTED, corrected_lines, lines_of, without_citations
from coaching.context.closeness import CITATION
from sessions_app.briefs import newest_brief
from sessions_app.models import BriefCorrection, Message, MessageRole, Session, SessionBrief

SHOWN_AFTER = 12
"""How many later messages follow a cited one on the page that the citation leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A cited message: its anchor, and `before` of the page of earlier messages that shows it, or None."""

    number: int
    anchor: str
    before: int | None
    is_by_user: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedLine:
    """A line without its citations; `index` is its place in the version's text."""

    index: int
    text: str
    citations: Sequence[Citation]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCorrection:
    """A correction, or without `words` a removed line. `line` has no citations."""

    id: int
    words: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A session's brief; `version` is 0 without one.

    `covers_to` is when its last covered message was sent, and `later` counts those after it.
    """

    version: int
    lines: Sequence[RememberedLine]
    corrections: Sequence[ShownCorrection]
    covers_to: datetime | None
    later: int
    is_failing: bool


def read_remembered(session: Session) -> Remembered:
    brief = newest_brief(session)
    said = list(session.brief_corrections.order_by("-pk"))
    lines = _kept_lines(brief, said[::-1]) if brief else {}
    messages = session.messages.filter(turn__is_withdrawn=False)
    covers = brief.covers_until if brief else 0
    last = messages.filter(number__lte=covers).order_by("-number").only("created_at").first()
    cited = _cited(session, lines)
    return Remembered(
        version=brief.version if brief else 0,
        lines=[_shown(index, line, cited) for index, line in lines.items()],
        corrections=[
            ShownCorrection(id=each.pk, words=each.words, line=without_citations(each.line)) for each in said
        ],
        covers_to=last.created_at if last else None,
        later=messages.filter(number__gt=covers).exclude(metadata__has_key="is_hidden").count(),
        is_failing=session.brief_attempts > 1,
    )


def line_of(session: Session, *, version: int, index: int) -> str | None:
    """Return a line of a version that is in use; None if there is no such line."""
    brief = session.briefs.filter(version=version, is_withdrawn=False).first()
    lines = lines_of(brief.text) if brief else []
    return lines[index] if 0 <= index < len(lines) else None


def as_found(text: str) -> str:
    """Return a brief's text as a search shows it: no bullets or citations, corrections as the user's own."""
    lines = (without_citations(line) for line in lines_of(text))
    corrected, instead_of = gettext("You corrected:") + " ", " (" + gettext("instead of:") + " “"
    return " · ".join(line.replace(CORRECTED, corrected).replace(" (about: “", instead_of) for line in lines)


def _kept_lines(brief: SessionBrief, corrections: Sequence[BriefCorrection]) -> Mapping[int, str]:
    """Return the lines that the user hasn't ruled out, by their place in the version's text."""
    kept = set(corrected_lines(brief.text, corrections))
    return {
        index: line
        for index, line in enumerate(lines_of(brief.text))
        if line in kept and not line.startswith(CORRECTED)
    }


def _cited(session: Session, lines: Mapping[int, str]) -> Mapping[int, Citation]:
    numbers = {number for line in lines.values() for number in _numbers_in(line)}
    messages = session.messages.filter(number__in=numbers, turn__is_withdrawn=False)
    shown = messages.exclude(metadata__has_key="is_hidden").only("number", "role", "turn_id")
    return {message.number: _citation(message, last=session.last_message_number) for message in shown}


def _citation(message: Message, *, last: int) -> Citation:
    is_by_user = message.role == MessageRole.USER
    before = message.number + SHOWN_AFTER
    return Citation(
        number=message.number,
        anchor=f"message-{message.number}" if is_by_user else f"turn-{message.turn_id}",
        before=before if before <= last else None,
        is_by_user=is_by_user,
    )


def _shown(index: int, line: str, cited: Mapping[int, Citation]) -> RememberedLine:
    citations = [cited[number] for number in dict.fromkeys(_numbers_in(line)) if number in cited]
    return RememberedLine(index=index, text=without_citations(line), citations=citations)


def _numbers_in(line: str) -> Iterator[int]:
    for found in CITATION.finditer(line):
        yield from (int(number) for number in found[1].replace(";", ",").split(","))
