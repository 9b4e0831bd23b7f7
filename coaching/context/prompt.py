"""Builds the request that a turn begins with: tools, system, opening, window, in that order of caching.

`system` and tools are the same for everybody and contain no clock, id or random value. Text of people and
documents goes into messages only, fenced. Nothing is stored here: what the turn must store is returned with
the request.

A little over 300 lines: the steps of one builder, where each step needs the ones before it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings

from coaching.care.asking import CareOfTurn, foresee
from coaching.clock.days import local_day
from coaching.context import statement as stating
from coaching.context.attached import MORE, MORE_ON_PAGE, document_parts, without_withheld
from coaching.context.brief import brief_part
from coaching.context.budget import SPARE_TOKENS, count_tokens
from coaching.context.care import CARE
from coaching.context.care_parts import ask_part, end_part, ending_words
from coaching.context.foreign import foreign_texts
from coaching.context.help_lines import (
    danger_of,
    help_lines_part,
    is_danger_elsewhere,
    spoken_in,
    untold_danger,
)
from coaching.context.history import HistoryLimits, count_message, stored_message
from coaching.context.late_findings import awaited_in, finding_parts
from coaching.context.library import SeenDocument
from coaching.context.life import Life, LifeQuery, Unknown, read_life
from coaching.context.opening import (
    CONTEXT_KEY,
    GONE,
    SAID_KEY,
    Opening,
    Statement,
    said_last,
    skills_in_results,
    statement_of,
)
from coaching.context.pictures import PICTURES_KEY, newest_pictures, picture_blocks, pictures_since
from coaching.context.pipeline import build_context
from coaching.context.prompt_tools import PromptTools
from coaching.context.sizes import PromptSizes, sizes_of
from coaching.context.statement import SKILL_KEY, StatementPart, skill_part, state
from coaching.context.step_asks import due_part, week_part
from coaching.context.trace import Sent, trace_of
from coaching.context.window import Window, open_window, rows_to_read, smaller_window
from coaching.engine.messages import ModelRequest, StoredMessage, build_api_messages
from coaching.engine.profiles import profile_for
from coaching.life.arcs import ARCS
from coaching.model_client.context_size import context_tokens_of, most_result_bytes
from coaching.model_client.patience import turn_tokens
from coaching.models import Profile
from coaching.models.skills import SkillKind
from coaching.safety.intensity import MESSAGES_LOOKED_AT, SaidWords
from coaching.skills.callers import ARC, named_in
from coaching.skills.loader import MOMENT_KEY, SkillLibrary, load_library, skills_moment
from coaching.skills.reader import SkillError
from coaching.skills.rules import without_tools
from sessions_app import selectors
from sessions_app.arcs import current_arc
from sessions_app.briefs import read_brief
from sessions_app.history import TAINT_KEY
from sessions_app.models import BriefCorrection, Message, MessageRole, Session, SessionBrief, SessionKind

HIGH_INTENSITY = "high_intensity"
"""The signal whose approach stays in danger."""
OPENING_SHARE = 0.45
LEAST_WORDS = 200
"""How far a message that doesn't fit is shortened, in tokens."""
WORDS_KEY = "most_words"
"""In a session's metadata: to how many tokens a message was shortened that a model had called too long."""
LOOK_BACK_BLOCKS = 20
"""How many blocks before a breakpoint the cache searches for an earlier one."""

LONG_CACHE = {"type": "ephemeral", "ttl": "1h"}
SHORT_CACHE = {"type": "ephemeral"}
TAIL_CACHE = SHORT_CACHE
"""On the request itself: a breakpoint that always follows the last block."""


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


def build_frame(
    session: Session, *, tools: PromptTools[Any], library: SkillLibrary | None = None
) -> ModelRequest:
    """Build the part of a request before its messages: the model, `system` and tools."""
    library = library or load_library(skills_moment(session))
    return ModelRequest(
        model=settings.SAGE_MODEL,
        system=[
            {
                "type": "text",
                "text": library.base_prompt(tools.offered_skill_tools, base_skill=tools.base_skill),
                "cache_control": LONG_CACHE,
            }
        ],
        tools=tools.definitions(),
        messages=[],
        max_tokens=turn_tokens(),
        cache_control=TAIL_CACHE,
        most_result_bytes=most_result_bytes(settings.SAGE_MODEL),
    )


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
        self.sizes = _sizes(_frame_tokens(frame, tools))
        self.most_words = min(self.sizes.window, _words_that_fitted(session) or self.sizes.window)
        sizes = {"minimum": self.sizes.messages, "step": self.sizes.step}
        limit = rows_to_read(edge, last=session.last_message_number, **sizes)
        self.tail, older = selectors.history_tail(session, limit=limit, newest=newest)
        self.care = care or _foreseen(life, self.tail[-1])
        self.life = replace(life, care=self.care.care) if self.care else life
        self.pictures_since = pictures_since(self.tail[:-1])
        window = open_window(
            self.tail,
            **sizes,
            older=older,
            edge=edge,
            covered=session.brief_covers,
            most=self.sizes.window,
            count_tokens=self.count_message,
        )
        self.asked_steps: Sequence[int] = ()
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
        self.offered = self._offered()
        arc = current_arc(self.session)
        self.context = build_context(
            self.life,
            recent=_recent_words(window, danger_tool=self.tools.danger_tool, now=self.now),
            file_reader=self.tools.file_reader,
            arc=arc.arc if arc else "",
            is_first_day=local_day(self.session.started_at, self.life.profile.zone) == self.life.today,
        )
        self.frame_tokens = _frame_tokens(self.frame, self.tools)
        self.room = _sizes(self.frame_tokens).room

    def halve(self) -> bool:
        """Move to half the window, and shorten the newest message to it; return whether anything gave way."""
        half = sum(map(self.count_message, self.window.messages)) // 2
        smaller = smaller_window(self.window, self.count_message)
        if smaller is not None:
            self.move_to(smaller)
        newest = self.window.messages[-1]
        excess = sum(map(self.count_message, self.window.messages)) - half
        words = count_tokens(self._limits_of(newest).words_of(newest)) - excess
        if excess > 0 and words >= LEAST_WORDS:
            self.most_words = words
            self.session_metadata[WORDS_KEY] = {"model": self.frame.model, "tokens": words}
            return True
        return smaller is not None

    def count_message(self, message: Message) -> int:
        """Estimate the tokens of a message of the history in this request."""
        return count_message(
            message,
            saved_fields=self.tools.saved_fields,
            pictures_since=self.pictures_since,
            limits=self._limits_of(message),
        )

    def _limits_of(self, message: Message) -> HistoryLimits:
        is_newest = message.number == self.tail[-1].number
        words = self.most_words if is_newest else min(self.most_words, self.sizes.older_message)
        return HistoryLimits(words=words, result_bytes=self.sizes.result_bytes)

    def _library(self, moment: datetime) -> SkillLibrary:
        states = self.life.skill_states
        return load_library(moment, None if isinstance(states, Unknown) else states)

    def build(self) -> BuiltPrompt:
        opening = self._opening()
        newest = self.window.messages[-1]
        statements = self._statements()
        sent = opening.statement.tokens + sum(statement.tokens for statement in statements)
        left = self.room - sent - self._header_reserve()
        skills = self._skill_parts([opening.statement, *statements])
        said = said_last([opening.statement, *statements])
        parts, clock = stating.changed_parts(
            self.context,
            said=said,
            now=self.now,
            more=[
                *self._help_parts(),
                *self._care_parts(said),
                *self._step_parts(said),
                *self._document_parts(said, left),
                *self._finding_parts(said, left),
                *skills,
                *self._offer_parts(),
            ],
            tokens=left,
            gone_words={CARE: ending_words(self.care)} if self.care else {},
        )
        text, statement = state(parts, clock=clock)
        metadata = {
            key: value
            for key, value in newest.metadata.items()
            if key not in (CONTEXT_KEY, SAID_KEY, PICTURES_KEY)
        }
        if pictures := newest_pictures(self.window.messages, self._attached()):
            metadata[PICTURES_KEY] = pictures
        if text:
            metadata |= {CONTEXT_KEY: text, SAID_KEY: statement.as_json()}
        newest.metadata = metadata
        trace = self._trace(opening, statements, statement, words=newest.content)
        foreign = foreign_texts(self.window.messages, statement, self._attached())
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
            asked_steps=self.asked_steps,
        )

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
        """Return the session's opening; where it has to be rebuilt, the newest brief is read for it."""
        if self.stored_opening is not None and not self.is_rebuilt:
            return self.stored_opening
        skill = self._arc_skill()
        room = int(self.room * OPENING_SHARE)
        skills: list[StatementPart] = []
        if skill is not None and skill.key.removeprefix(SKILL_KEY) not in self.in_results:
            skills = [skill]
        brief, remembered = self._brief()
        parts = [*remembered, *skills]
        said = sum(statement.tokens for statement in self._statements())
        room = min(room, self.room - said - sum(part.tokens for part in remembered))
        standing = stating.standing_parts(self.context, tokens=room - sum(part.tokens for part in skills))
        standing_text, _ = state(standing)
        _, statement = state([*standing, *parts])
        texts = tuple(text for text in (standing_text, *(part.text for part in parts)) if text)
        return Opening(
            edge=self.window.edge,
            texts=texts,
            statement=statement,
            offered=self.offered,
            brief=brief.version if brief else 0,
            brief_covers=brief.covers_until if brief else 0,
            brief_revision=self.session.brief_revision,
        )

    def _brief(self) -> tuple[SessionBrief | None, Sequence[StatementPart]]:
        """Return the newest brief and its section; none of both where there is nothing to remember."""
        brief: SessionBrief | None = None
        corrections: Sequence[BriefCorrection] = ()
        if self.session.brief_covers or self.session.brief_revision:
            brief, corrections = read_brief(self.session)
        first = self.window.messages[0].number if self.window.edge.number else 1
        part = brief_part(brief, corrections, first_in_window=first)
        return brief, [part] if part else []

    def _arc_skill(self) -> StatementPart | None:
        arc = current_arc(self.session)
        return self._skill(ARCS[arc.arc].skill, caller=ARC) if arc else None

    def _skill(self, name: str, *, caller: str) -> StatementPart | None:
        try:
            text = without_tools(self.library[name].text, self.tools.left_out)
            return skill_part(name, text, caller=caller)
        except SkillError:
            return None

    def _is_in_danger(self) -> bool:
        """Whether danger was noticed in the last messages: offers and other approaches step back then."""
        recent = spoken_in(self.window.messages)[-MESSAGES_LOOKED_AT:]
        return any(danger_of(each) or is_danger_elsewhere(each, now=self.now) for each in recent)

    def _help_parts(self) -> Sequence[StatementPart]:
        """Return what was noticed and not told yet, with the help lines that the page shows."""
        message = untold_danger(self.window.messages, danger_tool=self.tools.danger_tool)
        newest = self.window.messages[-1]
        return [help_lines_part(message, newest=newest, profile=self.life.profile)] if message else []

    def _step_parts(self, said: Statement) -> Sequence[StatementPart]:
        """Return the steps that this arc asks about, and note them."""
        arc = current_arc(self.session)
        if arc is None or isinstance(self.life.steps, Unknown):
            return []
        part, self.asked_steps = due_part(
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
        return [each for each in (part, week) if each]

    def _care_parts(self, said: Statement) -> Sequence[StatementPart]:
        """Return what this answer asks after danger; that it ended now, if the window doesn't know of it."""
        if self.care is None:
            return []
        if self.care.ask is not None:
            return [ask_part(self.care.ask, self.care.care)]
        is_unknown = said.sections.get(CARE, GONE) == GONE
        return [end_part(self.care)] if self.care.has_ended_now and is_unknown else []

    def _document_parts(self, said: Statement, tokens: int) -> Sequence[StatementPart]:
        """Return the documents of the window's messages, as far as they weren't told of."""
        facts = self.life.library
        if isinstance(facts, Unknown):
            return ()
        more = MORE_ON_PAGE if self.tools.is_compact else MORE
        return document_parts(facts, self.window.messages, said, tokens=tokens, more=more)

    def _finding_parts(self, said: Statement, tokens: int) -> Sequence[StatementPart]:
        """Return what is known by now of documents that a tool couldn't wait for."""
        awaited = awaited_in(self.window.messages, self.tools.late_tools)
        return finding_parts(awaited, user_id=self.session.user_id, said=said, tokens=tokens)

    def _attached(self) -> Mapping[int, SeenDocument]:
        facts = self.life.library
        return {} if isinstance(facts, Unknown) else facts.attached

    def _stored_messages(self) -> Sequence[StoredMessage]:
        """Return the window's messages for the engine, with their pictures."""
        messages = self.window.messages
        since, attached = pictures_since(messages), self._attached()
        has_sight = profile_for(self.frame.model).has_sight
        facts = self.life.library
        withheld = frozenset[int]() if isinstance(facts, Unknown) else facts.withheld
        stored = [
            stored_message(
                message,
                picture_blocks(message, since=since, attached=attached, has_sight=has_sight),
                limits=self._limits_of(message),
            )
            for message in messages
        ]
        if not withheld:
            return stored
        return [without_withheld(each, withheld, tools=self.tools.late_tools) for each in stored]

    def _skill_parts(self, statements: Sequence[Statement]) -> Sequence[StatementPart]:
        """Return the skills that apply now and whose text isn't in the request yet."""
        callers = {match.skill: match.signal for match in reversed(self.context.called.trace)}
        approaches = self.context.called.approaches
        if self._is_in_danger():
            approaches = tuple(name for name in approaches if callers[name] == HIGH_INTENSITY)
        called = (self._skill(name, caller=callers[name]) for name in approaches)
        wanted = [self._arc_skill(), *(part and _urgent(part) for part in called)]
        there = {f"{SKILL_KEY}{name}" for name in self.in_results}
        there |= {key for statement in statements for key in statement.sections}
        return [part for part in wanted if part is not None and part.key not in there]

    @property
    def _today(self) -> str:
        return self.life.today.isoformat()

    def _offered(self) -> Mapping[str, str]:
        """Return the arcs that this session has offered, each with the newest day."""
        offered = dict(self.stored_opening.offered) if self.stored_opening else {}
        for message in self.tail[:-1]:
            if (before := statement_of(message)) and (offer := before.sections.get("offer")):
                arc, _, day = offer.partition(" ")
                offered[arc] = day
        return offered

    def _offer_parts(self) -> Sequence[StatementPart]:
        """Return the arc that may be offered: in an open conversation, outside an arc, once a day.

        Where no tool begins an arc, none is offered.
        """
        arc = self.context.called.arc
        if arc is None or current_arc(self.session) is not None or self.offered.get(arc) == self._today:
            return []
        if self._is_in_danger() or not self.tools.offered_skill_tools:
            return []
        chosen = next(match for match in self.context.called.trace if match.is_chosen)
        takes = ARCS[SessionKind(arc)].takes
        return [stating.offer_part(arc, because=chosen.because, takes=takes, day=self._today)]

    def _trace(
        self, opening: Opening, earlier: Sequence[Statement], newest: Statement, *, words: str
    ) -> dict[str, Any]:
        arc = current_arc(self.session)
        names = [*self.library.names(SkillKind.APPROACH), *self.library.names(SkillKind.ARC)]
        in_statements = sum(statement.tokens for statement in (*earlier, newest))
        words_said = sum(map(self.count_message, self.window.messages)) - in_statements
        trace = trace_of(
            Sent(
                context=self.context,
                opening=opening,
                earlier=earlier,
                newest=newest,
                in_results=self.in_results,
                named=named_in(words, names),
                arc=str(arc.arc) if arc else "",
                frame=self.frame_tokens,
                window=max(0, words_said),
            )
        )
        return trace | {"build_ms": round((time.perf_counter() - self.started) * 1000, 1)}

    def _request(self, opening: Opening) -> ModelRequest:
        window = self.window.messages
        stored = self._stored_messages()
        messages = build_api_messages(stored, self.tools.saved_fields)
        last_users = [number for number, message in enumerate(window) if message.role == MessageRole.USER][
            -2:
        ]
        until_before = stored[: last_users[0] + 1]
        _mark_tail(messages, build_api_messages(until_before, self.tools.saved_fields))
        if opening.texts:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in opening.texts]
            blocks[-1]["cache_control"] = LONG_CACHE
            messages[0] = {**messages[0], "content": [*blocks, *messages[0]["content"]]}
        return replace(self.frame, messages=messages)


def _urgent(part: StatementPart) -> StatementPart:
    """Return an approach as a part that must go, if it is the one for danger."""
    return replace(part, must_go=part.digest == HIGH_INTENSITY)


def _sizes(frame_tokens: int) -> PromptSizes:
    return sizes_of(
        context_tokens_of(settings.SAGE_MODEL),
        frame_tokens=frame_tokens,
        answer_tokens=turn_tokens(),
        messages=settings.SAGE_WINDOW_MESSAGES,
        step=settings.SAGE_WINDOW_STEP,
    )


def _words_that_fitted(session: Session) -> int | None:
    """Return how many tokens of a message the model has room for, where one was too long for it."""
    found = session.metadata.get(WORDS_KEY, {})
    return found["tokens"] if found.get("model") == settings.SAGE_MODEL else None


def _foreseen(life: Life, newest: Message) -> CareOfTurn | None:
    if isinstance(life.care, Unknown):
        return None
    words = "" if newest.metadata.get("is_hidden") else newest.content
    return foresee(life.care, words=words, is_in_danger=danger_of(newest) is not None, now=life.now)


def _recent_words(window: Window, *, danger_tool: str, now: datetime) -> Sequence[SaidWords]:
    """Return the last words; danger that hasn't been told counts as the newest's: it needs the same care."""
    spoken = spoken_in(window.messages)[-MESSAGES_LOOKED_AT:]
    is_untold = untold_danger(window.messages, danger_tool=danger_tool) is not None
    is_untold = is_untold or any(is_danger_elsewhere(message, now=now) for message in spoken)
    return [
        SaidWords(
            message.content, is_danger=danger_of(message) is not None or (is_untold and message is spoken[-1])
        )
        for message in spoken
    ]


def _frame_tokens(frame: ModelRequest, tools: PromptTools[Any]) -> int:
    return sum(count_tokens(block["text"]) for block in frame.system) + tools.tokens


def _mark_tail(messages: list[dict[str, Any]], before: Sequence[dict[str, Any]]) -> None:
    """Put a breakpoint where a later request searches for this one: on the newest user message.

    The search covers 20 blocks. If the turn before took more, the breakpoint goes on that turn's own message,
    whose end was a breakpoint then; the newest block has the request's own.
    """
    place, position = len(before) - 1, len(before[-1]["content"]) - 1
    blocks_since = sum(len(message["content"]) for message in messages[place:]) - position
    is_far = blocks_since > LOOK_BACK_BLOCKS
    content = list(messages[place if is_far else -1]["content"])
    index = position if is_far else -1
    content[index] = {**content[index], "cache_control": SHORT_CACHE}
    target = place if is_far else len(messages) - 1
    messages[target] = {**messages[target], "content": content}
