"""A request parsed as a story: questions and answers, calls, and the current arc.

Text between two calls doesn't survive a turn, so a question is recognised by what does: the text before the
first call, the last text, and the prompts of interactive calls.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coaching.practice.api.prefix import Json, content_blocks, opens_turn
from coaching.practice.coach.conversation import CallOutcome, Conversation, without_sections

ARCS = ("life_mapping", "open_day", "close_day", "weekly_checkin")
INTERACTIVE_WORDS = {"show_options": "prompt", "show_pulse_check": "context"}

_SKILL = re.compile(r'^<skill name="([a-z-]{1,64})">$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Something that the user said, and the coach's words that it answers.

    `value` is a tapped option's, empty for typed words. `ratings` are a pulse check's, by domain. `position`
    orders exchanges and calls together.
    """

    question: str
    answer: str
    position: int
    value: str = ""
    ratings: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def is_tapped(self) -> bool:
        """Whether the user tapped instead of typing."""
        return bool(self.value) or self.ratings is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call with its result. `turn` counts the user messages before it."""

    outcome: CallOutcome
    turn: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcSpan:
    """An arc and where it began. `is_whole_session`: it wasn't entered from an open conversation."""

    name: str
    begins: int
    is_whole_session: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The story so far. `arc` is the current one, `ended_arc` the one that ended last.

    `open_question` has the coach's words since the user's last answer.
    """

    exchanges: Sequence[Exchange]
    calls: Sequence[Call]
    arc: ArcSpan | None
    ended_arc: ArcSpan | None
    open_question: str
    turn: int
    position: int


def read_story(conversation: Conversation) -> Story:
    """Parse a request's story."""
    reader = _Reader(conversation)
    for message in conversation.messages:
        reader.read(message)
    return Story(
        exchanges=reader.exchanges,
        calls=reader.calls,
        arc=reader.arc,
        ended_arc=reader.ended_arc,
        open_question="\n\n".join(reader.question),
        turn=reader.turn,
        position=reader.position,
    )


def open_span(story: Story) -> ArcSpan:
    """Return the open conversation since the last arc, as a span."""
    ends = [
        c.position
        for c in story.calls
        if c.outcome.name == "complete_session" and c.outcome.values.get("success")
    ]
    return ArcSpan(name="", begins=max(ends, default=0), is_whole_session=False)


def skill_sections(message: Json) -> Sequence[str]:
    """Return the names of the skills whose text is in a user message."""
    if message["role"] != "user":
        return []
    texts = [block["text"] for block in content_blocks(message["content"]) if block["type"] == "text"]
    ours = [text for text in texts if text.lstrip().startswith("<")]
    return [name for text in ours for name in _SKILL.findall(text)]


class _Reader:
    def __init__(self, conversation: Conversation) -> None:
        self.exchanges: list[Exchange] = []
        self.calls: list[Call] = []
        self.question: list[str] = []
        self.ended_arc: ArcSpan | None = None
        self.turn = 0
        self.position = 0
        self._outcomes = conversation.outcomes
        names = [name.replace("-", "_") for name in skill_sections(conversation.messages[0])]
        arc = next((name for name in names if name in ARCS), None)
        self.arc = ArcSpan(name=arc, begins=0, is_whole_session=True) if arc else None

    def read(self, message: Json) -> None:
        if opens_turn(message):
            self.turn += 1
        for block in content_blocks(message["content"]):
            match block["type"], message["role"]:
                case "text", "assistant":
                    self.question.append(block["text"])
                case "text", _:
                    self._hear(without_sections(block["text"]).strip())
                case "tool_use", _:
                    words = block["input"].get(INTERACTIVE_WORDS.get(block["name"], ""), "")
                    self.question += [words] if isinstance(words, str) and words else []
                case "tool_result", _:
                    self._take(self._outcomes.get(block["tool_use_id"]))

    def _hear(self, words: str) -> None:
        if words:
            self._answer(words)

    def _take(self, outcome: CallOutcome | None) -> None:
        if outcome is None:
            return
        self.position += 1
        self.calls.append(Call(outcome=outcome, turn=self.turn, position=self.position))
        values = outcome.values
        if outcome.name == "show_options" and isinstance(values.get("value"), str):
            self._answer(str(values.get("chosen", values["value"])), value=values["value"])
        elif outcome.name == "show_pulse_check" and isinstance(values.get("ratings"), Mapping):
            self._answer(str(values.get("note", "")), ratings=values["ratings"])
        elif outcome.name == "enter_structured_arc" and not outcome.is_error:
            self._enter(values)
        elif outcome.name == "complete_session" and values.get("success") and not outcome.is_error:
            self.ended_arc, self.arc = self.arc, None

    def _answer(self, answer: str, **more: Any) -> None:
        self.position += 1
        question = "\n\n".join(self.question)
        self.exchanges.append(Exchange(question=question, answer=answer, position=self.position, **more))
        self.question.clear()

    def _enter(self, values: Mapping[str, Any]) -> None:
        is_there_already = values.get("reason") == "in_this_arc"
        arc = values.get("arc") if values.get("success") else None
        if arc in ARCS and not is_there_already:
            self.arc = ArcSpan(name=str(arc), begins=self.position, is_whole_session=False)
            self.question.clear()
