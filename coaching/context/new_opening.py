"""Builds a session's opening: what stands before the window and is sent again as it is until that moves."""

from collections.abc import Mapping, Sequence

from coaching.context.brief_lines import brief_text, corrected_lines
from coaching.context.entries import wrap
from coaching.context.fences import fence
from coaching.context.message_parts import SkillTexts
from coaching.context.opening import Opening
from coaching.context.pipeline import Context
from coaching.context.statement import SKILL_KEY, StatementPart, standing_parts, state
from coaching.context.window import Window
from sessions_app.briefs import read_brief
from sessions_app.models import BriefCorrection, Session, SessionBrief

OPENING_SHARE = 0.45


def build_opening(
    session: Session,
    window: Window,
    *,
    context: Context,
    skills: SkillTexts,
    in_results: Mapping[str, str],
    offered: Mapping[str, str],
    room: int,
    told: int,
) -> Opening:
    """Build the opening of a window, for which the newest brief is read.

    The request has `room` for so many tokens, of which the window's messages were `told` some. `in_results`
    are the skills whose text stands in a tool's result, `offered` the arcs that were offered.
    """
    skill = skills.of_arc(session)
    is_sent = skill is None or skill.key.removeprefix(SKILL_KEY) in in_results
    of_arc = [] if skill is None or is_sent else [skill]
    brief, remembered = _brief(session, window)
    parts = [*remembered, *of_arc]
    most = min(int(room * OPENING_SHARE), room - told - sum(part.tokens for part in remembered))
    standing = standing_parts(context, tokens=most - sum(part.tokens for part in of_arc))
    standing_text, _ = state(standing)
    _, statement = state([*standing, *parts])
    return Opening(
        edge=window.edge,
        texts=tuple(text for text in (standing_text, *(part.text for part in parts)) if text),
        statement=statement,
        offered=offered,
        brief=brief.version if brief else 0,
        brief_covers=brief.covers_until if brief else 0,
        brief_revision=session.brief_revision,
    )


def _brief(session: Session, window: Window) -> tuple[SessionBrief | None, Sequence[StatementPart]]:
    """Return the newest brief and its section; none of both where there is nothing to remember."""
    brief: SessionBrief | None = None
    corrections: Sequence[BriefCorrection] = ()
    if session.brief_covers or session.brief_revision:
        brief, corrections = read_brief(session)
    first = window.messages[0].number if window.edge.number else 1
    part = _brief_part(brief, corrections, first_in_window=first)
    return brief, [part] if part else []


def _brief_part(
    brief: SessionBrief | None, corrections: Sequence[BriefCorrection], *, first_in_window: int
) -> StatementPart | None:
    """Return the section of a brief, which says what it lacks of the messages before the window."""
    lines = corrected_lines(brief.text if brief else "", corrections)
    covers = brief.covers_until if brief else 0
    texts = [fence(brief_text(lines))] if lines else []
    if covers + 1 < first_in_window:
        missing = f"messages {covers + 1} to {first_in_window - 1}"
        texts.append(f"[The brief isn't up to date: {missing} are neither in it nor below.]")
    if not texts:
        return None
    attributes = {"covers_messages": f"1 to {covers}"} if covers else {}
    version = brief.version if brief else 0
    return StatementPart(key="brief", digest=str(version), text=wrap("brief", "\n".join(texts), attributes))
