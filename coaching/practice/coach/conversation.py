"""A request parsed for the tour: what was asked and answered, which calls were made, and the current arc.

The tour has no memory: all that it knows is in the request, so equal requests get equal answers. Text between
two calls doesn't survive a turn, so a question is read from what does: the first and last text, and the
prompts of interactive calls.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from coaching.practice.api.prefix import Json, content_blocks, opens_turn
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import Language

ARCS = ("life_mapping", "open_day", "close_day", "weekly_checkin")
OPENING_WORDS = "I have just opened this conversation and have not written anything yet. Please begin."
NO_WORDS = frozenset(
    {OPENING_WORDS, "Please go on from where you stopped.", "(The conversation begins.)", "(no text)"}
)
"""What the application says in the person's place (`sessions_app.retries`, `engine.messages`)."""
DISMISSED = "The user dismissed this without an answer."
"""The result of a question that the person has skipped with its button (`sessions_app.pending_calls`)."""
SKIP = "skip"

_PROMPTS = {"show_options": "prompt", "show_pulse_check": "context"}
_SILENT = frozenset({"load_skill", "enter_structured_arc", *_PROMPTS})
ACCOUNT_LANGUAGES: Mapping[str, Language] = {"English": "en", "German": "de", "Spanish": "es"}
"""The languages of accounts, as requests name them."""
_LANGUAGE = re.compile(r"^Language: (\w+)", re.MULTILINE)
_SKILL = re.compile(r'^<skill name="([a-z-]{1,64})">$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Words or a tap of the person's, and the tour's words that they answer.

    `value` is a tapped option's, `ratings` are a pulse check's by domain. `position` orders exchanges and
    calls together.
    """

    question: str
    answer: str
    position: int
    value: str = ""
    ratings: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call with its result; `values` is the result's JSON object, or empty."""

    name: str
    input: Json
    text: str
    is_error: bool
    values: Mapping[str, Any]
    position: int
    is_fresh: bool

    @property
    def path(self) -> str:
        return str(self.values.get("path", "")) if self.name == "save_file" and not self.is_error else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An arc and where it began. `is_whole_session`: it wasn't entered from an open conversation."""

    name: str
    begins: int
    is_whole_session: bool = False


class Conversation:
    """A request, parsed for the tour."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self.exchanges: list[Exchange] = []
        self.calls: list[Call] = []
        self.arc: Span | None = None
        self.ended_arc: Span | None = None
        self.arc_ended_at = 0
        self._position = 0
        self._question: list[str] = []
        self._parse()

    @property
    def messages(self) -> Sequence[Json]:
        messages: Sequence[Json] = self._body["messages"]
        return messages

    @property
    def open_question(self) -> str:
        return "\n\n".join(self._question)

    @property
    def newest(self) -> Exchange | None:
        """What the person has just said or tapped; None while only results of calls have come back."""
        last = self.exchanges[-1] if self.exchanges else None
        if last is None or any(c.position > last.position and c.name not in _SILENT for c in self.calls):
            return None
        return last

    @property
    def is_first(self) -> bool:
        """Whether the newest words are the first; in an arc, they answer a question."""
        return len(self.exchanges) == 1 and self.arc is None

    @property
    def begins_now(self) -> int:
        return self.exchanges[-1].position if self.exchanges else 0

    @property
    def part_calls(self) -> Sequence[Call]:
        return [call for call in self.calls if call.position > self.begins_now]

    @cached_property
    def spoken(self) -> str:
        return "\n".join([*(exchange.question for exchange in self.exchanges), self.open_question])

    @cached_property
    def language(self) -> Language:
        """The language of the newest words whose language shows, else the account's."""
        return self.exchanges_with_language[-1][1] if self.exchanges else self._account_language

    @cached_property
    def exchanges_with_language(self) -> Sequence[tuple[Exchange, Language]]:
        """The exchanges, each with the language that was spoken then."""
        found, spoken = [], self._account_language
        for exchange in self.exchanges:
            spoken = spoken_language(exchange.answer) or spoken
            found.append((exchange, spoken))
        return found

    @property
    def _account_language(self) -> Language:
        account = _LANGUAGE.search(self.section("session_context"))
        return ACCOUNT_LANGUAGES.get(account[1], "en") if account else "en"

    @property
    def newest_as_sent(self) -> str:
        blocks = content_blocks(self.messages[-1]["content"])
        return "\n".join(block["text"] for block in blocks if block["type"] == "text")

    @property
    def brings_picture(self) -> bool:
        """Whether pictures came with the newest words."""
        return any(block["type"] == "image" for block in content_blocks(self.messages[-1]["content"]))

    @property
    def offers_tools(self) -> bool:
        return bool(self._body.get("tools"))

    @cached_property
    def tools(self) -> frozenset[str]:
        if (self._body.get("tool_choice") or {}).get("type") == "none":
            return frozenset()
        return frozenset(tool["name"] for tool in self._body.get("tools") or [])

    @property
    def is_last_round(self) -> bool:
        return self.offers_tools and not self.tools

    @cached_property
    def skills(self) -> Sequence[str]:
        loaded = [str(c.input.get("name")) for c in self.calls if c.name == "load_skill" and not c.is_error]
        names = [name for text in self.context_texts for name in _SKILL.findall(text)]
        return list(dict.fromkeys([*names, *loaded]))

    def section(self, name: str) -> str:
        for text in reversed(self.context_texts):
            start = text.rfind(f"<{name}")
            end = text.find(f"</{name}>", start + 1)
            if 0 <= start < end:
                return text[start:end]
        return ""

    @property
    def context_texts(self) -> Sequence[str]:
        """The application's own sections, text by text."""
        return [
            block["text"]
            for message in self.messages
            if message["role"] == "user"
            for block in content_blocks(message["content"])
            if block["type"] == "text" and block["text"].lstrip().startswith("<")
        ]

    def _parse(self) -> None:
        results = {
            block["tool_use_id"]: block
            for message in self.messages
            for block in content_blocks(message["content"])
            if block["type"] == "tool_result"
        }
        calls: dict[str, Json] = {}
        first = content_blocks(self.messages[0]["content"]) if self.messages else []
        names = [name for block in first for name in _SKILL.findall(block.get("text") or "")]
        arc = next((found for name in names if (found := name.replace("-", "_")) in ARCS), None)
        self.arc = Span(name=arc, begins=0, is_whole_session=True) if arc else None
        for message in self.messages:
            blocks = content_blocks(message["content"])
            texts = [block for block in blocks if block["type"] == "text"]
            for block in blocks:
                match block["type"], message["role"]:
                    case "text", "assistant":
                        self._question.append(block["text"])
                    case "text", _:
                        # The application's own sections come first, the person's words last.
                        if block is texts[-1]:
                            self._hear(block["text"].strip())
                    case "tool_use", _:
                        calls[block["id"]] = block
                        words = block["input"].get(_PROMPTS.get(block["name"], ""), "")
                        self._question += [words] if isinstance(words, str) and words else []
                    case "tool_result", _ if block["tool_use_id"] in calls:
                        is_fresh = message is self.messages[-1] and not opens_turn(message)
                        self._take(calls[block["tool_use_id"]], results[block["tool_use_id"]], is_fresh)

    def _hear(self, words: str) -> None:
        if words and words not in NO_WORDS:
            self._answer(words)

    def _take(self, block: Json, result: Json, is_fresh: bool) -> None:
        self._position += 1
        text = _text_of(result)
        values = _object_in(text)
        is_error = bool(result.get("is_error"))
        call = Call(
            name=block["name"], input=block["input"], text=text, is_error=is_error, values=values,
            position=self._position, is_fresh=is_fresh,
        )  # fmt: skip
        self.calls.append(call)
        if call.name == "show_options" and isinstance(values.get("value"), str):
            self._answer(str(values.get("chosen", values["value"])), value=values["value"])
        elif call.name == "show_pulse_check" and isinstance(values.get("ratings"), Mapping):
            self._answer(str(values.get("note", "")), ratings=values["ratings"])
        elif call.name in _PROMPTS and text == DISMISSED:
            self._answer(SKIP)
        elif call.name == "enter_structured_arc" and values.get("success") and values.get("arc") in ARCS:
            self.arc = Span(name=str(values["arc"]), begins=self._position)
            self._question.clear()
        elif call.name == "complete_session" and values.get("success") and not is_error:
            self.ended_arc, self.arc, self.arc_ended_at = self.arc, None, self._position

    def _answer(self, answer: str, **more: Any) -> None:
        self._position += 1
        question = "\n\n".join(self._question)
        self.exchanges.append(Exchange(question=question, answer=answer, position=self._position, **more))
        self._question.clear()


def _text_of(result: Json) -> str:
    content = result.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _object_in(text: str) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
