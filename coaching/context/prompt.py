"""Builds the request that a turn begins with: tools, system, opening, window, in that order of caching.

`system` and tools are the same for everybody and contain no clock, id or random value. Text of people and
documents goes into messages only, fenced. Nothing is stored here: what the turn must store is returned with
the request. The newest message gets its new `metadata` in memory: its part of the request is built from it.

A little over 300 lines, because each step of the builder uses the results of those before.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from coaching.care.questions import CareOfTurn
from coaching.clock.days import local_day
from coaching.context import statement as stating
from coaching.context.budget import SPARE_TOKENS
from coaching.context.care import CARE
from coaching.context.care_parts import ending_words, foreseen
from coaching.context.foreign import PROGRAMS_KEY, foreign_names, foreign_texts, programs_sent
from coaching.context.frame import build_frame, frame_tokens, sizes_beside
from coaching.context.help_lines import recent_words
from coaching.context.life import Life, LifeQuery, Unknown, read_life
from coaching.context.message_limits import MessageLimits
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
from coaching.context.statement import state
from coaching.context.trace import Sent, trace_of
from coaching.context.window import Window, open_window, rows_to_read, smaller_window
from coaching.engine.messages import ModelRequest
from coaching.models import Profile
from coaching.skills.loader import MOMENT_KEY, SkillLibrary, load_library, skills_moment
from sessions_app import selectors
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
    return _TurnBuilder(session, life=life, tools=tools, newest=newest, care=care).build()


def build_smaller_turn(
    session: Session, *, life: Life, tools: PromptTools[Any], care: CareOfTurn | None = None
) -> BuiltPrompt | None:
    """Build the request again with half the window; None if that is a short message already.

    Where the newest message alone is longer, it is shortened, too. The edge moves for good, since later turns
    would hit the same limit.
    """
    builder = _TurnBuilder(session, life=life, tools=tools, newest=None, care=care)
    return builder.build() if builder.halve() else None


class _TurnBuilder:
    """Builds a request from a history; each step uses the results of the ones before."""

    def __init__(
        self,
        session: Session,
        *,
        life: Life,
        tools: PromptTools[Any],
        newest: Message | None,
        care: CareOfTurn | None,
    ) -> None:
        self.started = time.perf_counter() - life.read_seconds
        self.session = session
        self.now = life.now
        self.stored_opening = Opening.from_text(session.opening)
        edge = self.stored_opening.edge if self.stored_opening else None
        self.life, self.tools = life, tools
        frame = build_frame(session, tools=tools, library=self._library(skills_moment(session)))
        self.sizes = sizes_beside(frame_tokens(frame, tools))
        sizes = {"minimum": self.sizes.messages, "step": self.sizes.step}
        limit = rows_to_read(edge, last=session.last_message_number, **sizes)
        self.tail, older = selectors.history_tail(session, limit=limit, newest=newest)
        self.care = care or foreseen(life, self.tail[-1])
        self.life = replace(life, care=self.care.care) if self.care else life
        self.limits = MessageLimits(session, self.tail, sizes=self.sizes, tools=tools)
        window = open_window(
            self.tail,
            **sizes,
            older=older,
            edge=edge,
            covered=session.brief_covers,
            most=self.sizes.window,
            count_tokens=self.limits.count,
        )
        self.move_to(window)

    def move_to(self, window: Window) -> None:
        self.window = window
        self.in_results = skills_in_results(window.messages, self.tools.skill_tools)
        stored = self.stored_opening
        # Moving the edge loses the cache anyway, so a long conversation gets today's skills then.
        is_moved = stored is not None and stored.edge != window.edge
        self.is_rebuilt = stored is None or is_moved or stored.brief_revision != self.session.brief_revision
        self.library = self._library(self.now if is_moved else skills_moment(self.session))
        self.session_metadata: dict[str, Any] = {MOMENT_KEY: self.now.isoformat()} if is_moved else {}
        self.frame = build_frame(self.session, tools=self.tools, library=self.library)
        self.skills = SkillTexts(library=self.library, tools=self.tools)
        self.offered = offered_arcs(stored, self.tail[:-1])
        arc = current_arc(self.session)
        self.context = build_context(
            self.life,
            recent=recent_words(window.messages, danger_tool=self.tools.danger_tool, now=self.now),
            file_reader=self.tools.file_reader,
            arc=arc.arc if arc else "",
            is_first_day=local_day(self.session.started_at, self.life.profile.zone) == self.life.today,
        )
        self.frame_tokens = frame_tokens(self.frame, self.tools)
        self.room = sizes_beside(self.frame_tokens).room

    def halve(self) -> bool:
        """Move to half the window, and shorten the newest message to it; return whether anything gave way."""
        half = self.limits.count_all(self.window.messages) // 2
        smaller = smaller_window(self.window, self.limits.count)
        if smaller is not None:
            self.move_to(smaller)
        messages = self.window.messages
        kept = self.limits.shorten(messages[-1], by=self.limits.count_all(messages) - half)
        self.session_metadata |= kept
        return smaller is not None or bool(kept)

    def _library(self, moment: datetime) -> SkillLibrary:
        states = self.life.skill_states
        return load_library(moment, None if isinstance(states, Unknown) else states)

    def build(self) -> BuiltPrompt:
        opening = self._opening()
        newest = self.window.messages[-1]
        statements = self._statements()
        sent = opening.statement.tokens + sum(statement.tokens for statement in statements)
        left = self.room - sent - self._header_reserve()
        more, asked_steps = self._message_parts().choose([opening.statement, *statements], tokens=left)
        parts, clock = stating.changed_parts(
            self.context,
            said=said_last([opening.statement, *statements]),
            now=self.now,
            more=more,
            tokens=left,
            gone_words={CARE: ending_words(self.care)} if self.care else {},
        )
        text, statement = state(parts, clock=clock)
        metadata = {
            key: value
            for key, value in newest.metadata.items()
            if key not in (CONTEXT_KEY, SAID_KEY, PICTURES_KEY)
        }
        if pictures := newest_pictures(self.window.messages, attached_in(self.life)):
            metadata[PICTURES_KEY] = pictures
        if text:
            metadata |= {CONTEXT_KEY: text, SAID_KEY: statement.as_json()}
        newest.metadata = metadata  # `_request` reads it there
        trace = self._trace(opening, statements, statement, words=newest.content)
        foreign = self._foreign(statement)
        return BuiltPrompt(
            request=self._request(opening),
            most_tokens=self.frame_tokens + self.room + SPARE_TOKENS,
            message=newest,
            message_metadata=metadata,
            turn_metadata={**trace, TAINT_KEY: list(foreign)} if foreign else trace,
            opening=opening.to_text() if self.is_rebuilt else None,
            session_metadata=self.session_metadata,
            before=self.tail[:-1],
            said_before_at=self._said_before_at(),
            asked_steps=asked_steps,
        )

    def _foreign(self, statement: Statement) -> tuple[str, ...]:
        """Return the names of the texts of others; note the programs among them for the next request."""
        programs = programs_sent(self.session, self.life, self.window.messages)
        if programs != self.session.metadata.get(PROGRAMS_KEY, {}):
            self.session_metadata[PROGRAMS_KEY] = programs
        named = foreign_texts(self.window.messages, statement, attached_in(self.life))
        return foreign_names(named, programs)

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

    def _request(self, opening: Opening) -> ModelRequest:
        messages = build_request_messages(
            self.window.messages,
            opening=opening.texts,
            life=self.life,
            tools=self.tools,
            model=self.frame.model,
            limits_of=self.limits.of,
        )
        return replace(self.frame, messages=messages)

    def _header_reserve(self) -> int:
        """Return the tokens of the headers that this window may still get: each message tells its day."""
        said = sum(message.role == MessageRole.USER for message in self.window.messages)
        most = (self.sizes.messages + self.sizes.step) // 2 + 1
        return max(1, most - said + 1) * stating.header_tokens(self.context)

    def _statements(self) -> Sequence[Statement]:
        """Return what was sent with the messages before the newest."""
        earlier = self.window.messages[:-1]
        return [statement for message in earlier if (statement := statement_of(message))]

    def _said_before_at(self) -> datetime | None:
        said = [message for message in self.tail[:-1] if message.role == MessageRole.USER]
        shown = [message.created_at for message in said if message.marks_day]
        return shown[-1] if shown else None

    def _opening(self) -> Opening:
        """Return the session's opening, the stored one unless it has to be rebuilt."""
        if self.stored_opening is not None and not self.is_rebuilt:
            return self.stored_opening
        return build_opening(
            self.session,
            self.window,
            context=self.context,
            skills=self.skills,
            in_results=self.in_results,
            offered=self.offered,
            room=self.room,
            told=sum(statement.tokens for statement in self._statements()),
        )

    def _trace(
        self, opening: Opening, earlier: Sequence[Statement], newest: Statement, *, words: str
    ) -> dict[str, Any]:
        arc = current_arc(self.session)
        in_statements = sum(statement.tokens for statement in (*earlier, newest))
        words_said = self.limits.count_all(self.window.messages) - in_statements
        trace = trace_of(
            Sent(
                context=self.context,
                opening=opening,
                earlier=earlier,
                newest=newest,
                in_results=self.in_results,
                named=self.skills.named_in(words),
                arc=str(arc.arc) if arc else "",
                frame=self.frame_tokens,
                window=max(0, words_said),
            )
        )
        return trace | {"build_ms": round((time.perf_counter() - self.started) * 1000, 1)}
