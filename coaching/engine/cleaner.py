"""Cleans what models without a profile write: a state machine over characters. No I/O.

Servers pass on what such a model writes of its template. Reasoning in tags becomes thinking. A role token
ends the answer, and so does a sentence that is repeated without end. A call in tags is taken out. Fenced and
inline code stays as it is, and so does a tag right after a quotation mark. Of a structured answer nothing is
changed within its object, whose strings may quote anything.

It reads one character at a time, so where a stream is cut makes no difference, and holds back only what may
still become a tag or a call.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from coaching.engine.fences import Fences
from coaching.engine.repetition import RepetitionWatch
from coaching.engine.written_calls import HEAD_CHARACTERS, WrittenCall, may_be_call, read_calls

Kind = Literal["text", "thinking"]
OpenKind = Literal["text", "thinking", "tool_use"]
Ended = Literal["", "role", "repetition"]
Mode = Literal["text", "thinking", "call", "object", "after_call"]

_REASONING = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning", "reflection")},
    "[think]": "[/think]",
}
_CALLS = {
    **{f"<{name}>": f"</{name}>" for name in ("tool_call", "tool_calls", "function_call", "tool_use")},
    "<function=": "</function>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|python_tag|>": "<|/python_tag|>",
    "[tool_calls]": "[/tool_calls]",
}
_ROLE_TOKENS = """
<|im_end|> <|im_start|> <|eot_id|> <|eom_id|> <|start_header_id|> <|end_header_id|> <|begin_of_text|>
<|end_of_text|> <|endoftext|> <|end|> <|user|> <|assistant|> <|system|> <|start_of_role|> <|end_of_role|>
<end_of_turn> <start_of_turn> <eos> </s> [inst] [/inst] <｜end▁of▁sentence｜> <｜user｜> <｜assistant｜>
"""
_ROLES = frozenset(_ROLE_TOKENS.split())
_STRUCK, _STRUCK_END = "<s>", "</s>"
"""What is struck through in HTML; without the first one, the second ends a reply."""
_TAGS = _ROLES.union([_STRUCK], _REASONING, _REASONING.values(), _CALLS, _CALLS.values())
_BEGINNINGS = frozenset(tag[:length] for tag in _TAGS for length in range(1, len(tag)))
_FIRST = frozenset(tag[0] for tag in _TAGS)


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is shown only if text follows: a call, or the blanks after one. A call in tags never is."""

    text: str
    is_tagged: bool = False


class _Braces:
    """Follows an object of JSON from its first brace to its last."""

    def __init__(self) -> None:
        self.is_open = True
        self.in_string = False
        self._depth = 0
        self._is_escaped = False

    def add(self, character: str) -> None:
        if self.in_string:
            self.in_string = self._is_escaped or character != '"'
            self._is_escaped = character == "\\" and not self._is_escaped
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self.is_open = self._depth > 0
        else:
            self.in_string = character == '"'


class _JSONObject:
    """An object at the start of a line, which may be a call."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self._head = ""
        self._braces = _Braces()

    @property
    def is_whole(self) -> bool:
        """Whether its last brace was added."""
        return not self._braces.is_open

    def accepts(self, character: str) -> bool:
        """Add a character; return whether all of them may still become a call."""
        self.characters.append(character)
        if len(self._head) < HEAD_CHARACTERS and not character.isspace():
            self._head += character
            if not may_be_call(self._head):
                return False
        was_in_string = self._braces.in_string
        self._braces.add(character)
        if was_in_string:
            return True
        return character.isspace() or character.isalnum() or character in '{[}]":,+-.'


class Cleaner:
    """Cleans one reply: feed its text, then close it. `names` are the tools that a call in text may name.

    After an `ended` nothing that is fed counts. `calls` are those that the text ends with. A structured
    answer is an object of JSON.
    """

    def __init__(self, names: frozenset[str] = frozenset(), *, is_structured: bool = False) -> None:
        self.ended: Ended = ""
        self.calls: tuple[WrittenCall, ...] = ()
        self._names = names
        self._mode: Mode = "text"
        self._tag = ""  # may become one
        self._closing_tag = ""
        self._held: list[_Held] = []
        self._call: list[str] = []
        self._object = _JSONObject()
        self._seeks_objects = bool(names)
        self._is_structured = is_structured
        self._braces: _Braces | None = None
        self._struck = 0
        self._skips_blanks = False
        self._has_said = False
        self._fences = Fences()
        self._watch = RepetitionWatch()
        self._watched: Kind = "text"
        self._shown: list[tuple[Kind, list[str]]] = []

    @property
    def open_kind(self) -> OpenKind:
        """Where the text has come to."""
        if self._mode == "thinking":
            return "thinking"
        return "text" if self._mode == "text" else "tool_use"

    def feed(self, text: str) -> list[Piece]:
        """Add text; return what of it is known by now."""
        self._read(text)
        return self._take_shown()

    def close(self) -> list[Piece]:
        """Return what was held: nothing follows."""
        if not self.ended:
            self._finish()
        return self._take_shown()

    def _take_shown(self) -> list[Piece]:
        shown, self._shown = self._shown, []
        return [Piece(kind, "".join(characters)) for kind, characters in shown]

    def _read(self, text: Iterable[str]) -> None:
        for character in text:
            if self.ended:
                return
            self._take(character)

    def _take(self, character: str) -> None:
        if self._braces is not None and self._braces.is_open:
            self._braces.add(character)
            self._append("text", character)
            return
        grown = (self._tag + character).lower()
        if self._tag and grown in _TAGS:
            raw, self._tag = self._tag + character, ""
            if raw[0] == "[" and raw != raw.upper():  # "[think]" is a word in brackets
                self._add_all(raw)
            else:
                self._act(grown, raw)
        elif self._tag and grown in _BEGINNINGS:
            self._tag += character
        elif self._tag:
            self._let_go_of_tag()
            self._read(character)
        elif character in _FIRST and self._may_begin_tag():
            self._tag = character
        else:
            self._add(character)

    def _may_begin_tag(self) -> bool:
        if self._mode == "text" and self._fences.is_open and self._fences.ends_here():
            self._fences.close()  # a role token follows at once
        if self._mode == "text":
            return not self._fences.is_open and not self._fences.is_quoted
        return self._mode != "object"

    def _let_go_of_tag(self) -> None:
        tag, self._tag = self._tag, ""
        self._add_all(tag)

    def _add_all(self, characters: str) -> None:
        for character in characters:
            self._add(character)

    def _act(self, tag: str, raw: str) -> None:
        if tag == _STRUCK or (tag == _STRUCK_END and self._struck):
            self._struck += 1 if tag == _STRUCK else -1
            self._add_all(raw)
        elif tag in _ROLES:
            self._finish()
            self.ended = self.ended or "role"
        elif self._mode in ("thinking", "call") and tag == self._closing_tag:
            self._close_tags()
        elif self._mode == "thinking" or (self._mode == "call" and tag not in _CALLS):
            self._add_all(raw)
        elif tag in _CALLS:
            if self._mode == "call":
                self._close_tags()
            self._mode, self._closing_tag = "call", _CALLS[tag]
        elif tag in _REASONING:
            self._release_held()
            self._mode, self._closing_tag = "thinking", _REASONING[tag]

    def _close_tags(self) -> None:
        if self._mode == "thinking":
            self._mode = "text"
            self._skips_blanks = not self._has_said
        else:
            self._held.append(_Held(text="".join(self._call), is_tagged=True))
            self._call.clear()
            self._mode = "after_call"

    def _add(self, character: str) -> None:
        """Add a character that belongs to no tag."""
        match self._mode:
            case "text":
                self._add_to_text(character)
            case "thinking":
                self._show("thinking", character)
            case "call":
                self._call.append(character)
            case "object":
                self._add_to_object(character)
            case "after_call" if character.isspace():
                self._held.append(_Held(text=character))
            case "after_call" if character == "{" and self._seeks_objects:
                self._begin_object()
            case "after_call":
                self._release_held()
                self._add(character)

    def _add_to_text(self, character: str) -> None:
        if character == "{" and self._seeks_objects and self._fences.is_at_line_start:
            self._begin_object()
        elif self._is_structured and self._braces is None and character == "{":
            self._braces = _Braces()
            self._take(character)
        elif not (self._skips_blanks and character.isspace()):
            self._skips_blanks = False
            self._show("text", character)
            self._fences.add(character)

    def _begin_object(self) -> None:
        self._mode, self._object = "object", _JSONObject()
        self._object.accepts("{")

    def _add_to_object(self, character: str) -> None:
        may_be_call = self._object.accepts(character)
        if may_be_call and not self._object.is_whole:
            return
        self._held.append(_Held(text="".join(self._object.characters)))
        if may_be_call:
            self._mode = "after_call"
        else:
            self._release_held()

    def _release_held(self) -> None:
        """Read what was held as text, in which no call is sought again."""
        held, self._held = self._held, []
        self._mode = "text"
        before, self._seeks_objects = self._seeks_objects, False
        self._read("".join(each.text for each in held if not each.is_tagged))
        self._seeks_objects = before

    def _finish(self) -> None:
        """Settle what was held: nothing follows."""
        self._let_go_of_tag()
        if self._mode == "object":
            self._held.append(_Held(text="".join(self._object.characters)))
            self._release_held()
            self._let_go_of_tag()
        if self._mode == "call":
            self._close_tags()
        calls: list[WrittenCall] = []
        while self._held and (found := self._read_held(self._held[-1])) is not None:
            calls[:0] = found
            self._held.pop()
        if any(not each.is_tagged and each.text.strip() for each in self._held):
            self._release_held()
            self._let_go_of_tag()
        self.calls = () if self.ended else tuple(calls)

    def _read_held(self, held: _Held) -> tuple[WrittenCall, ...] | None:
        """Return the calls in what was held; None if it is something else."""
        if held.text.isspace() and not held.is_tagged:
            return ()
        return read_calls(held.text, self._names, is_tagged=held.is_tagged) or None

    def _show(self, kind: Kind, character: str) -> None:
        if self.ended:
            return
        if kind != self._watched or self._fences.is_open:
            self._watch.forget()
            self._watched = kind
        if not self._fences.is_open and self._watch.sees_repetition(character):
            self.ended = "repetition"
            return
        self._append(kind, character)

    def _append(self, kind: Kind, character: str) -> None:
        self._has_said = self._has_said or (kind == "text" and not character.isspace())
        if not self._shown or self._shown[-1][0] != kind:
            self._shown.append((kind, []))
        self._shown[-1][1].append(character)
