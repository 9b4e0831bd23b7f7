"""Builds the request that a turn begins with: tools, system, opening, window, in that order of caching.

`system` and tools are the same for everybody and contain no clock, id or random value. Text of people and
documents goes into messages only, fenced. Nothing is stored here: what the turn must store is returned with
the request. The newest message gets its new `metadata` in memory: its part of the request is built from it.

`request_window` chooses the window first. Then each part is built with what is left beside those before.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from coaching.care.questions import CareOfTurn
from coaching.clock.days import local_day
from coaching.context.budget import SPARE_TOKENS
from coaching.context.care import CARE
from coaching.context.care_parts import ending_words, foreseen
from coaching.context.foreign import PROGRAMS_KEY, foreign_names, foreign_texts, programs_sent
from coaching.context.frame import build_frame, frame_tokens, sizes_beside
from coaching.context.help_lines import recent_words
from coaching.context.life import Life, LifeQuery, read_life
from coaching.context.message_parts import MessageParts, SkillTexts, offered_arcs
from coaching.context.new_opening import build_opening
from coaching.context.opening import (
    CONTEXT_KEY,
    SAID_KEY,
    Opening,
    Statement,
    said_last,
    skills_in_results,
    statement_of,
)
from coaching.context.pictures import PICTURES_KEY, newest_pictures
from coaching.context.pipeline import build_context
from coaching.context.prompt_tools import PromptTools
from coaching.context.request_messages import attached_in, build_request_messages
from coaching.context.request_window import RequestWindow, read_window, skill_library
from coaching.context.statement import changed_parts, header_tokens, state
from coaching.context.trace import Sent, trace_of
from coaching.engine.messages import ModelRequest
from coaching.models import Profile
from coaching.skills.loader import MOMENT_KEY, skills_moment
from sessions_app.arcs import current_arc
from sessions_app.history import TAINT_KEY
from sessions_app.models import Message, MessageRole, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPrompt:
    """The request that a turn begins with, and what must be stored to send it again byte for byte.

    All but the conversation keeps to `most_tokens`. `opening` is the session's new one, None if its present
    one was sent; `session_metadata` is merged into the session's with it. `before` are the messages that were
    read, without the newest; `said_before_at` is when the user's last one of them was sent, if any.
    `asked_steps` are the next steps that Sage is told to ask about.
    """

    request: ModelRequest
    most_tokens: int
    message: Message
    message_metadata: dict[str, Any]
    turn_metadata: dict[str, Any]
    opening: str | None
    session_metadata: dict[str, Any]
    before: Sequence[Message]
    said_before_at: datetime | None
    asked_steps: Sequence[int] = ()


def build_turn(
    session: Session,
    *,
    profile: Profile,
    tools: PromptTools[Any],
    now: datetime,
    life: Life | None = None,
    newest: Message | None = None,
    care: CareOfTurn | None = None,
) -> BuiltPrompt:
    """Build the request for a session whose history ends with a user's message; `now` is aware.

    `life` is given if it was read before, `newest` if that message isn't stored yet. `care` is what was
    stored for this request; without it, the request says what it would say.
    """
    life = life or read_life(LifeQuery(profile=profile, session_id=session.id, now=now))
    began = time.perf_counter() - life.read_seconds
    window = read_window(session, life=life, tools=tools, newest=newest)
    return _TurnBuilder(window, life=life, tools=tools, care=care).build(began=began)


def build_smaller_turn(
    session: Session, *, life: Life, tools: PromptTools[Any], care: CareOfTurn | None = None
) -> BuiltPrompt | None:
    """Build the request again with half the window; None if that is a short message already.

    Where the newest message alone is longer, it is shortened, too. The edge moves for good, since later turns
    would hit the same limit.
    """
    began = time.perf_counter() - life.read_seconds
    window = read_window(session, life=life, tools=tools).halved()
    return _TurnBuilder(window, life=life, tools=tools, care=care).build(began=began) if window else None


class _TurnBuilder:
    """Builds the request of a window: first the frame and what several parts need, then part after part."""

    def __init__(
        self, window: RequestWindow, *, life: Life, tools: PromptTools[Any], care: CareOfTurn | None
    ) -> None:
        self.window, self.tools, self.session, self.now = window, tools, window.session, life.now
        self.care = care or foreseen(life, window.newest)
        self.life = replace(life, care=self.care.care) if self.care else life
        # Moving the edge loses the cache anyway, so a long conversation gets today's skills then.
        library = skill_library(life, self.now if window.is_moved else skills_moment(self.session))
        self.frame = build_frame(self.session, tools=tools, library=library)
        self.frame_tokens = frame_tokens(self.frame, tools)
        self.room = sizes_beside(self.frame_tokens).room
        self.skills = SkillTexts(library=library, tools=tools)
        self.in_results = skills_in_results(window.messages, tools.skill_tools)
        self.offered = offered_arcs(window.opening, window.before)
        self.arc = current_arc(self.session)
        self.context = build_context(
            self.life,
            recent=recent_words(window.messages, danger_tool=tools.danger_tool, now=self.now),
            file_reader=tools.file_reader,
            arc=self.arc.arc if self.arc else "",
            is_first_day=local_day(self.session.started_at, life.profile.zone) == life.today,
        )
        self.earlier = [said for message in window.messages[:-1] if (said := statement_of(message))]
        """What was sent with the messages before the newest."""

    def build(self, *, began: float) -> BuiltPrompt:
        """Build what follows tools and system: the opening, the newest message's context, the messages."""
        newest = self.window.newest
        opening = self.window.kept_opening or self._new_opening()
        text, statement, asked_steps = self._context_of_newest([opening.statement, *self.earlier])
        newest.metadata = self._metadata_of_newest(text, statement)  # the messages are built from it
        trace = self._trace(opening, statement)
        trace["build_ms"] = round((time.perf_counter() - began) * 1000, 1)
        programs = programs_sent(self.session, self.life, self.window.messages)
        foreign = self._foreign(statement, programs)
        return BuiltPrompt(
            request=replace(self.frame, messages=self._messages(opening)),
            most_tokens=self.frame_tokens + self.room + SPARE_TOKENS,
            message=newest,
            message_metadata=newest.metadata,
            turn_metadata={**trace, TAINT_KEY: list(foreign)} if foreign else trace,
            opening=None if self.window.kept_opening else opening.to_text(),
            session_metadata=self._session_metadata(programs),
            before=self.window.before,
            said_before_at=self.window.said_before_at,
            asked_steps=asked_steps,
        )

    def _new_opening(self) -> Opening:
        return build_opening(
            self.session,
            self.window.window,
            context=self.context,
            skills=self.skills,
            in_results=self.in_results,
            offered=self.offered,
            room=self.room,
            told=_tokens(self.earlier),
        )

    def _context_of_newest(self, told: Sequence[Statement]) -> tuple[str, Statement, Sequence[int]]:
        """Return what goes with the newest message, the statement of it, and the steps to ask about.

        `told` is what the opening and the earlier messages say.
        """
        left = self.room - _tokens(told) - self._header_reserve()
        more, asked_steps = self._message_parts().choose(told, tokens=left)
        parts, clock = changed_parts(
            self.context,
            said=said_last(told),
            now=self.now,
            more=more,
            tokens=left,
            gone_words={CARE: ending_words(self.care)} if self.care else {},
        )
        text, statement = state(parts, clock=clock)
        return text, statement, asked_steps

    def _header_reserve(self) -> int:
        """Return the tokens of the headers that this window may still get: each message tells its day."""
        said = sum(message.role == MessageRole.USER for message in self.window.messages)
        most = (self.window.sizes.messages + self.window.sizes.step) // 2 + 1
        return max(1, most - said + 1) * header_tokens(self.context)

    def _message_parts(self) -> MessageParts:
        return MessageParts(
            session=self.session,
            life=self.life,
            tools=self.tools,
            messages=self.window.messages,
            context=self.context,
            care=self.care,
            skills=self.skills,
            in_results=self.in_results,
            offered=self.offered,
            now=self.now,
        )

    def _metadata_of_newest(self, text: str, statement: Statement) -> dict[str, Any]:
        """Return the newest message's metadata with its context, in place of an earlier request's."""
        replaced = (CONTEXT_KEY, SAID_KEY, PICTURES_KEY)
        metadata = {key: value for key, value in self.window.newest.metadata.items() if key not in replaced}
        if pictures := newest_pictures(self.window.messages, attached_in(self.life)):
            metadata[PICTURES_KEY] = pictures
        if text:
            metadata |= {CONTEXT_KEY: text, SAID_KEY: statement.as_json()}
        return metadata

    def _messages(self, opening: Opening) -> list[dict[str, Any]]:
        return build_request_messages(
            self.window.messages,
            opening=opening.texts,
            life=self.life,
            tools=self.tools,
            model=self.frame.model,
            limits_of=self.window.limits.of,
        )

    def _foreign(self, statement: Statement, programs: Mapping[str, int]) -> tuple[str, ...]:
        """Return the names of the texts of others that the request has."""
        named = foreign_texts(self.window.messages, statement, attached_in(self.life))
        return foreign_names(named, programs)

    def _session_metadata(self, programs: Mapping[str, int]) -> dict[str, Any]:
        """Return what the session keeps: the moment of its skills, and what later requests need to know."""
        metadata: dict[str, Any] = {MOMENT_KEY: self.now.isoformat()} if self.window.is_moved else {}
        metadata |= self.window.shortened
        if programs != self.session.metadata.get(PROGRAMS_KEY, {}):
            metadata[PROGRAMS_KEY] = programs
        return metadata

    def _trace(self, opening: Opening, newest: Statement) -> dict[str, Any]:
        words_said = self.window.tokens - _tokens([*self.earlier, newest])
        return trace_of(
            Sent(
                context=self.context,
                opening=opening,
                earlier=self.earlier,
                newest=newest,
                in_results=self.in_results,
                named=self.skills.named_in(self.window.newest.content),
                arc=str(self.arc.arc) if self.arc else "",
                frame=self.frame_tokens,
                window=max(0, words_said),
            )
        )


def _tokens(statements: Sequence[Statement]) -> int:
    return sum(statement.tokens for statement in statements)
