"""The parts sent with the newest message besides what has changed: care, steps, documents, skills."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from coaching.care.questions import CareOfTurn
from coaching.context.attached import MORE, MORE_ON_PAGE, document_parts
from coaching.context.care import CARE
from coaching.context.care_parts import ask_part, end_part
from coaching.context.help_lines import help_lines_part, is_any_in_danger, untold_danger
from coaching.context.late_findings import awaited_in, finding_parts
from coaching.context.life import Life, Unknown
from coaching.context.opening import GONE, Opening, Statement, said_last, sections_said_with
from coaching.context.pipeline import Context
from coaching.context.prompt_tools import PromptTools
from coaching.context.statement import SKILL_KEY, StatementPart, offer_part, skill_part
from coaching.context.step_asks import due_part, week_part
from coaching.life.arcs import ARCS
from coaching.models.skills import SkillKind
from coaching.skills.callers import ARC, named_in
from coaching.skills.loader import SkillLibrary
from coaching.skills.reader import SkillError
from coaching.skills.rules import without_tools
from sessions_app.arcs import current_arc
from sessions_app.models import Message, Session, SessionKind

HIGH_INTENSITY = "high_intensity"
"""The signal whose approach stays in danger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTexts:
    """The skills of a library as they are sent, without the tools that aren't offered."""

    library: SkillLibrary
    tools: PromptTools[Any]

    def part(self, name: str, *, caller: str) -> StatementPart | None:
        try:
            text = without_tools(self.library[name].text, self.tools.left_out)
            return skill_part(name, text, caller=caller)
        except SkillError:
            return None

    def named_in(self, words: str) -> Sequence[str]:
        """Return the arcs and approaches that words name."""
        kinds = (SkillKind.APPROACH, SkillKind.ARC)
        return named_in(words, [name for kind in kinds for name in self.library.names(kind)])

    def of_arc(self, session: Session) -> StatementPart | None:
        """Return the skill of the arc that the session is in."""
        arc = current_arc(session)
        return self.part(ARCS[arc.arc].skill, caller=ARC) if arc else None


def offered_arcs(opening: Opening | None, messages: Sequence[Message]) -> Mapping[str, str]:
    """Return the arcs that were offered with an opening and with messages, each with the newest day."""
    offered = dict(opening.offered) if opening else {}
    for message in messages:
        if offer := sections_said_with(message).get("offer"):
            arc, _, day = offer.partition(" ")
            offered[arc] = day
    return offered


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageParts:
    """Chooses the parts, by the window's `messages` and what of the life is read and built.

    `in_results` are the skills whose text stands in a tool's result.
    """

    session: Session
    life: Life
    tools: PromptTools[Any]
    messages: Sequence[Message]
    context: Context
    care: CareOfTurn | None
    skills: SkillTexts
    in_results: Mapping[str, str]
    offered: Mapping[str, str]
    now: datetime

    def choose(
        self, before: Sequence[Statement], *, tokens: int
    ) -> tuple[Sequence[StatementPart], Sequence[int]]:
        """Return the parts, and the steps that Sage is told to ask about.

        `before` is what was stated with the opening and with earlier messages.
        """
        said = said_last(before)
        steps, asked = self._steps(said)
        parts = [
            *self._help(),
            *self._care(said),
            *steps,
            *self._documents(said, tokens),
            *self._findings(said, tokens),
            *self._skills(before),
            *self._offer(),
        ]
        return parts, asked

    def _is_in_danger(self) -> bool:
        """Whether danger was noticed in the last messages: offers and other approaches step back then."""
        return is_any_in_danger(self.messages, now=self.now)

    def _help(self) -> Sequence[StatementPart]:
        """Return what was noticed and not told yet, with the help lines that the page shows."""
        message = untold_danger(self.messages, danger_tool=self.tools.danger_tool)
        newest = self.messages[-1]
        return [help_lines_part(message, newest=newest, profile=self.life.profile)] if message else []

    def _steps(self, said: Statement) -> tuple[Sequence[StatementPart], Sequence[int]]:
        """Return the steps that this arc asks about, and their keys."""
        arc = current_arc(self.session)
        if arc is None or isinstance(self.life.steps, Unknown):
            return [], ()
        part, asked = due_part(
            self.life.steps,
            arc=arc.arc,
            today=self.life.today,
            session_id=self.session.id,
            said=said.sections,
        )
        week = week_part(
            user_id=self.life.profile.user_id,
            arc=arc.arc,
            now=self.now,
            zone=self.life.profile.zone,
            said=said.sections,
        )
        return [each for each in (part, week) if each], asked

    def _care(self, said: Statement) -> Sequence[StatementPart]:
        """Return what this answer asks after danger; that it ended now, if the window doesn't know of it."""
        if self.care is None:
            return []
        if self.care.ask is not None:
            return [ask_part(self.care.ask, self.care.care)]
        is_unknown = said.sections.get(CARE, GONE) == GONE
        return [end_part(self.care)] if self.care.has_ended_now and is_unknown else []

    def _documents(self, said: Statement, tokens: int) -> Sequence[StatementPart]:
        """Return the documents of the window's messages, as far as they weren't told of."""
        facts = self.life.library
        if isinstance(facts, Unknown):
            return ()
        more = MORE_ON_PAGE if self.tools.is_compact else MORE
        return document_parts(facts, self.messages, said, tokens=tokens, more=more)

    def _findings(self, said: Statement, tokens: int) -> Sequence[StatementPart]:
        """Return what is known by now of documents that a tool couldn't wait for."""
        awaited = awaited_in(self.messages, self.tools.late_tools)
        return finding_parts(awaited, user_id=self.session.user_id, said=said, tokens=tokens)

    def _skills(self, statements: Sequence[Statement]) -> Sequence[StatementPart]:
        """Return the skills that apply now and whose text isn't in the request yet."""
        callers = {match.skill: match.signal for match in reversed(self.context.called.trace)}
        approaches = self.context.called.approaches
        if self._is_in_danger():
            approaches = tuple(name for name in approaches if callers[name] == HIGH_INTENSITY)
        called = (self.skills.part(name, caller=callers[name]) for name in approaches)
        wanted = [self.skills.of_arc(self.session), *(part and _urgent(part) for part in called)]
        there = {f"{SKILL_KEY}{name}" for name in self.in_results}
        there |= {key for statement in statements for key in statement.sections}
        return [part for part in wanted if part is not None and part.key not in there]

    def _offer(self) -> Sequence[StatementPart]:
        """Return the arc that may be offered: in an open conversation, outside an arc, once a day.

        Where no tool begins an arc, none is offered.
        """
        arc, today = self.context.called.arc, self.life.today.isoformat()
        if arc is None or current_arc(self.session) is not None or self.offered.get(arc) == today:
            return []
        if self._is_in_danger() or not self.tools.offered_skill_tools:
            return []
        chosen = next(match for match in self.context.called.trace if match.is_chosen)
        takes = ARCS[SessionKind(arc)].takes
        return [offer_part(arc, because=chosen.because, takes=takes, day=today)]


def _urgent(part: StatementPart) -> StatementPart:
    """Return an approach as a part that must go, if it is the one for danger."""
    return replace(part, must_go=part.digest == HIGH_INTENSITY)
