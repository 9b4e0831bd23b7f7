"""Runs the guided tour through whole sessions like the application: its tools, its history.

Every tool input is validated by the tool's model; permissions and artefacts come from the application's own
tables. A finished turn is stored as the engine rewrites it.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from coaching.engine.messages import StoredCall, StoredMessage, build_api_messages
from coaching.files.attributes import check_attributes
from coaching.files.permissions import may_write
from coaching.files.types import RULES
from coaching.life.arcs import ARCS, Artefact, DayFile, Page, Pulse, without_left
from coaching.tools import CHAT_TOOLS
from coaching.tools.save_file import SaveFileInput
from coaching.tools.show_options import ShowOptionsInput
from sessions_app.models import SessionKind
from tests.practice.conftest import Http

MODEL = "claude-sonnet-5-5"
OPEN = "open_conversation"
TODAY = "2026-11-21"
SUPERSEDED = "The user wrote a message instead of answering. It follows."


@dataclass
class File:
    """A stored file: its body and its attributes."""

    body: str
    attributes: dict[str, Any]
    version: int = 1
    is_of_arc: bool = True


@dataclass
class Walk:
    """A session. `kind` is the session's; `extra_tools` are offered in addition to the application's."""

    http: Http
    kind: str = OPEN
    header: str = ""
    system: str = ""
    extra_tools: tuple[dict[str, Any], ...] = ()
    files: dict[str, File] = field(default_factory=dict)
    old_ratings: dict[str, int] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    refused_types: set[str] = field(default_factory=set)
    max_rounds: int = 5
    without: set[str] = field(default_factory=set)

    history: list[StoredMessage] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    exchanges: int = 0
    rounds_of_part: list[int] = field(default_factory=list)
    active_arc: str = ""
    completed: list[str] = field(default_factory=list)
    ratings: dict[str, int] = field(default_factory=dict)
    was_told: bool = False
    pending: dict[str, Any] | None = None
    waiting: list[dict[str, Any]] = field(default_factory=list)
    status: str = "active"
    _turn: list[dict[str, Any]] = field(default_factory=list)
    _stored: list[StoredCall] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _rounds: int = 0

    @property
    def arc(self) -> str:
        """The session's current arc."""
        return self.active_arc or (self.kind if self.kind != OPEN and self.status == "active" else "")

    async def say(self, words: str) -> str:
        """Send a message, superseding a pending question. Return the coach's words in this part."""
        if self.pending is not None:
            for call in (self.pending, *self.waiting):
                self._store(call, SUPERSEDED)
            self._end_turn()
        self.exchanges += 1
        self.history.append(StoredMessage(role="user", content=words))
        self._turn, self._stored, self._texts, self._rounds = [], [], [], 0
        return await self._run_part()

    async def tap(self, value: str) -> str:
        """Tap one of the options that are shown, by value or label."""
        assert self.pending is not None, "nothing is asked"
        given = ShowOptionsInput.model_validate(self.pending["input"])
        option = next(o for o in given.options if value in {o.chosen, o.label})
        return await self._answer({"chosen": option.label, "value": option.chosen})

    async def rate(self, note: str = "", **ratings: int) -> str:
        """Answer the pulse check."""
        said = {}
        for name, new in ratings.items():
            old = self.old_ratings.get(name)
            change = None if old is None else new - old
            said[name] = {"old": old, "new": new, "change": change, "baseline": old or new, "trend": [new]}
        self.ratings |= ratings
        return await self._answer({"ratings": said, **({"note": note} if note else {})})

    def dismiss(self) -> None:
        """Dismiss the question: the turn ends without another request."""
        assert self.pending is not None
        assert not self.waiting
        self._store(self.pending, "The user dismissed this without an answer.")
        self._end_turn()

    async def _answer(self, value: dict[str, Any]) -> str:
        """Answer the first of the questions that are shown; with the last one, the turn goes on."""
        assert self.pending is not None
        self.exchanges += 1
        self._store(self.pending, orjson.dumps(value).decode())
        self.pending = self.waiting.pop(0) if self.waiting else None
        if self.pending is not None:
            return ""
        asked = {block["id"] for block in self._turn[-1]["content"] if block["type"] == "tool_use"}
        results = [_result(each.tool_use_id, each) for each in self._stored if each.tool_use_id in asked]
        self._turn.append({"role": "user", "content": results})
        return await self._run_part()

    def _is_asked(self, call: dict[str, Any]) -> bool:
        """Return whether a call waits for a yes: by the person's words, which a walk doesn't weigh."""
        return False

    def _request(self) -> list[dict[str, Any]]:
        messages = build_api_messages(self.history, CHAT_TOOLS.saved_fields)
        sections = [{"type": "text", "text": self.header}] if self.header else []
        if self.kind != OPEN:
            skill = f'<skill name="{ARCS[SessionKind(self.kind)].skill}">\n## Goal\n\nSave it.\n</skill>'
            sections.append({"type": "text", "text": skill})
        messages[0] = {**messages[0], "content": [*sections, *messages[0]["content"]]}
        return [*messages, *self._turn]

    def _tools(self) -> list[dict[str, Any]]:
        extra = [t for t in self.extra_tools if CHAT_TOOLS.get(t["name"]) is None]
        return [t for t in [*CHAT_TOOLS.definitions(), *extra] if t["name"] not in self.without]

    async def _run_part(self) -> str:
        words: list[str] = []
        for number in range(1, self.max_rounds + 1):
            body: dict[str, Any] = {
                "model": MODEL,
                "max_tokens": 8000,
                "thinking": {"type": "between_tools"},
                "tools": self._tools(),
                "messages": self._request(),
            }
            if self.system:
                body["system"] = self.system
            if number == self.max_rounds:
                body["tool_choice"] = {"type": "none"}
            message = self.http.answer(body)
            self._rounds += 1
            blocks = message["content"]
            text = "\n\n".join(block["text"] for block in blocks if block["type"] == "text")
            words += [text] if text else []
            self._texts.append(text)
            self.notes += [block["thinking"] for block in blocks if block["type"] == "thinking"]
            self._turn.append({"role": "assistant", "content": blocks})
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                self.rounds_of_part.append(number)
                self._end_turn()
                break
            if self._run_calls(calls):
                self.rounds_of_part.append(number)
                break
        self.said += words
        return "\n\n".join(words)

    def _run_calls(self, calls: list[dict[str, Any]]) -> bool:
        """Run a round's calls; return whether it waits for the user."""
        ordered = sorted(
            calls, key=lambda c: {"enter_structured_arc": 0, "complete_session": 2}.get(c["name"], 1)
        )
        for call in ordered:
            self.calls.append((call["name"], call["input"]))
            tool = CHAT_TOOLS.get(call["name"])
            if tool is not None:
                tool.parse(orjson.dumps(call["input"]).decode())
            if self._is_asked(call):
                self.waiting.append(call)
            elif tool is not None and tool.kind == "interactive":
                assert self.pending is None, "two questions at once"
                self.pending = call
                self.prompts.append(call["input"].get("prompt") or call["input"].get("context") or "")
            else:
                self._store(call, *self._result_of(call))
        if self.waiting and self.pending is None:
            self.pending = self.waiting.pop(0)
        if self.pending is None:
            results = [
                _result(call["id"], stored)
                for call in calls
                for stored in self._stored
                if stored.tool_use_id == call["id"]
            ]
            self._turn.append({"role": "user", "content": results})
        return self.pending is not None

    def _result_of(self, call: dict[str, Any]) -> tuple[str, bool]:
        name, values = call["name"], call["input"]
        if self.failures.get(name):
            return self.failures[name].pop(0), True
        match name:
            case "save_file":
                return self._save(SaveFileInput.model_validate(values))
            case "read_file":
                file = self.files.get(values["path"])
                if file is None:
                    return "There is no such file.", True
                return (
                    f'<file path="{values["path"]}" version="1">\n---\ntype: x\n---\n{file.body}</file>',
                    False,
                )
            case "enter_structured_arc":
                if self.arc:
                    return _json(success=False, reason="in_another_arc", message="In another arc."), False
                self.active_arc = values["arc"]
                self.was_told = False
                return _json(
                    success=True, arc=values["arc"], may_write=[], skill="## Goal\n\nSave it."
                ), False
            case "complete_session":
                return self._complete(values["type"])
            case "load_skill":
                return f'<skill name="{values["name"]}">\n## Goal\n\nStay.\n</skill>', False
            case _:
                return self.answers[name], False

    def _save(self, given: SaveFileInput) -> tuple[str, bool]:
        kind = self.arc or OPEN
        if not may_write(kind, given.file_type) or given.file_type in self.refused_types:
            return f"The type {given.file_type} can't be written in {kind}; nothing was saved.", True
        attributes = given.attributes.given() if given.attributes else {}
        if given.attributes:
            check_attributes(given.file_type, given.attributes)
        rule = RULES[given.file_type]
        path = rule.place
        if rule.naming == "domain":
            path = f"{rule.place}/{given.file_name}.md"
        elif rule.naming == "date":
            path = f"{rule.place}/{TODAY}.md"
        version = self.files[path].version + 1 if path in self.files else 1
        self.files[path] = File(given.content, dict(attributes), version)
        assert not given.content.startswith("---")
        return _json(success=True, path=path, bytes=len(given.content), version=version), False

    def _complete(self, what: str) -> tuple[str, bool]:
        if self.status != "active":
            return _json(
                success=False, reason=self.status, message="This conversation expired before."
            ), False
        if not self.arc and what == "arc":
            return _json(success=False, reason="no_arc", message="In no arc."), False
        missing: list[str] = []
        if self.arc:
            kind = SessionKind(self.arc)
            missing = without_left(kind, [m for each in ARCS[kind].leaves for m in self._lacking(each)])
        if missing and not self.was_told:
            self.was_told = True
            return _json(
                success=False, reason="incomplete", missing=missing, message="Not completed yet."
            ), False
        arc, is_over = self.arc, what == "session" or self.kind != OPEN
        self.completed.append(arc or "session")
        self.active_arc = ""
        self.status = "completed" if is_over else "active"
        return (
            _json(
                success=True,
                completed="session" if is_over else "arc",
                arc=arc,
                still_missing=missing,
                next_checkin="2026-11-29",
            ),
            False,
        )

    def _lacking(self, artefact: Artefact) -> list[str]:
        match artefact:
            case DayFile():
                file = self.files.get(f"{RULES[artefact.file_type].place}/{TODAY}.md")
                if file is None:
                    return [f"{artefact.file_type} with {', '.join(artefact.attributes)}"]
                return [
                    f"{n} of the {artefact.file_type}"
                    for n in artefact.attributes
                    if not file.attributes.get(n)
                ]
            case Page():
                file = self.files.get(artefact.path)
                is_there = file is not None and (file.is_of_arc or artefact.may_be_older)
                return [] if is_there else [artefact.name]
            case Pulse():
                return [] if self.ratings else ["pulse (show_pulse_check)"]

    def _store(self, call: dict[str, Any], result: str, is_error: bool = False) -> None:
        self._stored.append(
            StoredCall(
                tool_use_id=call["id"],
                name=call["name"],
                input=call["input"],
                result=result,
                is_error=is_error,
                round_number=self._rounds,
            )
        )

    def _end_turn(self) -> None:
        """Store the turn: texts joined, calls next to them, no notes."""
        self.pending, self.waiting = None, []
        content, ends = "", []
        for text in self._texts:
            content += ("\n\n" if content and text else "") + text
            ends.append(len(content))
        self.history.append(
            StoredMessage(
                role="assistant", content=content, calls=tuple(self._stored), round_ends=tuple(ends)
            )
        )
        self._turn, self._stored, self._texts = [], [], []

    def names(self) -> list[str]:
        """The names of all calls so far."""
        return [name for name, _ in self.calls]

    def options(self) -> list[str]:
        """The values of the current options."""
        assert self.pending is not None
        return [option.chosen for option in ShowOptionsInput.model_validate(self.pending["input"]).options]


def questions_of(walk: Walk) -> list[str]:
    """Return every question that the coach has put, as sentences."""
    spoken = "\n".join([*walk.said, *walk.prompts])
    return [sentence.strip() for sentence in re.findall(r"[^.!?\n:]+\?", spoken)]


def _result(call_id: str, stored: StoredCall) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": stored.result}
    return {**block, "is_error": True} if stored.is_error else block


def _json(**values: Any) -> str:
    return orjson.dumps(values).decode()
