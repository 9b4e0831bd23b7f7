"""Cleans what models without a profile write: a state machine over characters. No I/O.

Servers pass on what such a model writes of its template. Reasoning in tags becomes thinking: tags count at
the start of a line or after a sentence, elsewhere they are words. So are role tokens and the end of reasoning
that stand between two words of a line. Where the template has opened the reasoning, all that comes before its
end is thinking; where nothing closes it, it was the answer. A role token ends the answer, if there is one by
then, and so does a sentence that is repeated without end. A call in tags is taken out. Code stays as it is,
and so does a tag right after a quotation mark. Of a structured answer nothing is changed within its object,
whose strings may quote anything.

It reads one character at a time, so where a stream is cut makes no difference, and holds back only what may
still become a tag or a call, and a tag until it is known whether a word follows.

A little over 300 lines: the states of one machine.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from coaching.engine.fences import Fences
from coaching.engine.json_objects import Braces, CallObject
from coaching.engine.repetition import RepetitionWatch
from coaching.engine.template_tags import (
    BEGINNINGS,
    CALLS,
    ENDS,
    FIRST,
    HEADERS,
    LONGEST_ROLE,
    OTHERS_ROLES,
    OTHERS_TURNS,
    OWN_ROLES,
    REASONING,
    REASONING_ENDS,
    ROLES,
    STRUCK,
    STRUCK_END,
    TAGS,
    WORDY_CALLS,
)
from coaching.engine.written_calls import WrittenCall, may_hold_call, read_calls, read_tagged_calls

Shown = Literal["text", "thinking"]
Kind = Literal["text", "thinking", "void_text", "void_thinking"]
"""All text so far was thinking, or the thinking that came last was text, which follows again."""
OpenKind = Literal["text", "thinking", "tool_use"]
Ended = Literal["", "role", "repetition"]
Mode = Literal["text", "thinking", "call", "object", "after_call", "header"]

_AFTER_WORD = frozenset(",;:.!?…)")
_BETWEEN_WORDS = frozenset("(–—-|=→")
"""What a sentence, or the row of a table, goes on with after a tag and a blank."""


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Kind
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is shown only if text follows: a call, or the blanks after one. A call in tags never is."""

    text: str
    is_tagged: bool = False


class Cleaner:
    """Cleans one reply: feed its text, then close it. `names` are the tools that a call in text may name.

    After an `ended` nothing that is fed counts, but it is known whether text followed. `calls` are those that
    the text ends with. A structured answer is an object of JSON.
    """

    def __init__(self, names: frozenset[str] = frozenset(), *, is_structured: bool = False) -> None:
        self.ended: Ended = ""
        self.is_followed = False
        self.calls: tuple[WrittenCall, ...] = ()
        self._names = names
        self._mode: Mode = "text"
        self._tag = ""  # may become one
        self._named: list[str] = []  # a tag that a sentence may name, and the blanks after it
        self._opening_tag = ""
        self._closing_tag = ""
        self._header = ""
        self._held: list[_Held] = []
        self._call: list[str] = []
        self._has_call_begun = False
        self._thought: list[str] = []
        self._object = CallObject()
        self._seeks_objects = bool(names)
        self._seeks_reasoning = True
        self._is_structured = is_structured
        self._braces: Braces | None = None
        self._struck = 0
        self._skips_blanks = False
        self._has_said = False
        self._has_reasoned = False
        self._fences = Fences()
        self._watch = RepetitionWatch()
        self._watched: Shown = "text"
        self._shown: list[tuple[Kind, list[str]]] = []

    @property
    def open_kind(self) -> OpenKind:
        """Where the text has come to."""
        if self._mode == "thinking":
            return "thinking"
        return "text" if self._mode in ("text", "header") else "tool_use"

    @property
    def is_over(self) -> bool:
        """Whether nothing that may still come belongs to the reply."""
        return self.ended == "repetition" or self.is_followed

    def feed(self, text: str) -> list[Piece]:
        """Add text; return what of it is known by now."""
        self._read(text)
        return self._take_shown()

    def close(self, *, is_cut: bool = False) -> list[Piece]:
        """Return what was held: nothing follows. `is_cut`: the text is no whole end of a reply."""
        if not self.ended:
            self._finish(is_cut=is_cut)
        return self._take_shown()

    def _take_shown(self) -> list[Piece]:
        shown, self._shown = self._shown, []
        return [Piece(kind, "".join(characters)) for kind, characters in shown]

    def _read(self, text: Iterable[str]) -> None:
        for character in text:
            if self._named and character.isspace() and character != "\n":
                self._named.append(character)
                continue
            self._settle_named(character)
            if self.is_over:
                return
            if self.ended:
                self.is_followed = not character.isspace()
            else:
                self._take(character)

    def _take(self, character: str) -> None:
        if self._braces is not None and self._braces.is_open:
            self._braces.add(character)
            self._append("text", character)
            return
        grown = (self._tag + character).lower()
        if self._tag and grown in TAGS:
            raw, self._tag = self._tag + character, ""
            if self._mode == "header":
                self._end_header()
            if raw[0] == "[" and raw != raw.upper():  # "[think]" is a word in brackets
                self._add_all(raw)
            elif not self.ended:
                self._act(grown, raw)
        elif self._tag and grown in BEGINNINGS:
            self._tag += character
        elif self._tag:
            self._let_go_of_tag()
            self._read(character)
        elif character in FIRST and self._may_begin_tag():
            self._tag = character
        else:
            self._add(character)

    def _may_begin_tag(self) -> bool:
        if self._mode == "text" and self._fences.is_open and self._fences.ends_here():
            self._fences.close()  # a role token follows at once
        if self._mode == "text":
            return not self._fences.is_code and not self._fences.is_quoted
        return self._mode != "object"

    def _let_go_of_tag(self) -> None:
        self._settle_named()
        tag, self._tag = self._tag, ""
        self._add_all(tag)

    def _settle_named(self, following: str = "") -> None:
        """Take a held tag for what it is, by the character that follows it and its blanks, if any does."""
        if not self._named:
            return
        tag, *blanks = self._named
        self._named = []
        is_word = following.isalnum() or following in _BETWEEN_WORDS if blanks else following in _AFTER_WORD
        if is_word:
            self._add_all(tag)
        elif tag.lower() in ROLES:
            self._take_role(tag.lower())
        else:
            self._end_reasoning_of_template()
        self._read(blanks)

    def _add_all(self, characters: str) -> None:
        for character in characters:
            self._add(character)

    def _act(self, tag: str, raw: str) -> None:
        if tag == STRUCK or (tag == STRUCK_END and self._struck):
            self._struck += 1 if tag == STRUCK else -1
            self._add_all(raw)
        elif self._mode == "text" and self._fences.is_between_words and tag in ENDS:
            self._named = [raw]
        elif self._mode == "text" and self._is_word(tag):
            self._add_all(raw)
        elif tag in ROLES:
            self._take_role(tag)
        elif self._mode in ("thinking", "call") and tag == self._closing_tag:
            self._close_tags(raw)
        elif self._mode == "thinking" or (self._mode == "call" and tag not in CALLS):
            self._add_all(raw)
        elif tag in CALLS:
            self._open_call(tag, raw)
        elif tag in REASONING:
            self._open_reasoning(tag)
        elif tag in REASONING_ENDS:
            self._end_reasoning_of_template()

    def _is_word(self, tag: str) -> bool:
        """Whether a sentence names a tag that neither begins a call nor ends a turn or reasoning."""
        return tag not in CALLS and tag not in ENDS and not self._fences.is_at_sentence_start

    def _take_role(self, tag: str) -> None:
        """End the answer, or leave out what precedes it."""
        if self._mode != "text" or self._has_said or self._held or tag in OTHERS_TURNS:
            self._finish()
            self.ended = self.ended or "role"
            return
        self._skips_blanks = True
        if tag in HEADERS:
            self._mode = "header"

    def _end_header(self) -> None:
        role, self._header = self._header, ""
        self._mode = "text"
        if role.lower() in OTHERS_ROLES:
            self.ended = "role"
        elif role.lower() not in OWN_ROLES:
            self._add_all(role)

    def _open_call(self, tag: str, raw: str) -> None:
        if self._mode == "call":
            self._close_tags()
        self._mode, self._opening_tag, self._closing_tag = "call", raw, CALLS[tag]
        self._has_call_begun = False

    def _open_reasoning(self, tag: str) -> None:
        self._release_held()
        if self._seeks_reasoning:
            self._mode, self._closing_tag = "thinking", REASONING[tag]
            self._has_reasoned = True
            self._thought.clear()

    def _end_reasoning_of_template(self) -> None:
        if self._has_reasoned:
            return
        self._has_reasoned, self._has_said, self._skips_blanks = True, False, True
        self._mode = "text"
        self._held.clear()
        self._fences = Fences()
        self._watch.forget()
        self._shown.append(("void_text", []))

    def _give_back_thought(self) -> None:
        """Read again as text what was taken for thinking, since nothing closed it."""
        self._mode = "text"
        self._seeks_reasoning = False
        self._skips_blanks = not self._has_said
        self._shown.append(("void_thinking", []))
        self._read("".join(self._thought))
        self._let_go_of_tag()

    def _close_tags(self, raw: str = "") -> None:
        """End thinking or a call, as its closing tag `raw` says."""
        if self._mode == "thinking":
            self._mode = "text"
            self._skips_blanks = not self._has_said
        elif not self._has_call_begun and self._is_tag_a_word():
            self._take_tag_for_word(raw)
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
                self._thought.append(character)
                self._show("thinking", character)
            case "call":
                self._add_to_call(character)
            case "object":
                self._add_to_object(character)
            case "header" if character.isalpha() and len(self._header) < LONGEST_ROLE:
                self._header += character
            case "header":
                self._end_header()
                self._read(character)
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
            self._braces = Braces()
            self._take(character)
        elif not (self._skips_blanks and character.isspace()):
            self._skips_blanks = False
            self._show("text", character)
            self._fences.add(character)

    def _add_to_call(self, character: str) -> None:
        self._call.append(character)
        if self._has_call_begun or character.isspace():
            return
        self._has_call_begun = True
        if character not in "{[" and self._is_tag_a_word():
            self._take_tag_for_word()

    def _is_tag_a_word(self) -> bool:
        """Whether the tag of a call stands in a sentence that names it, unless a call follows."""
        is_wordy = self._opening_tag.lower() in WORDY_CALLS
        return is_wordy and not self._held and not self._fences.is_at_sentence_start

    def _take_tag_for_word(self, closing_tag: str = "") -> None:
        words = self._opening_tag + "".join(self._call) + closing_tag
        self._mode = "text"
        self._call.clear()
        self._add_all(words)

    def _begin_object(self) -> None:
        self._mode, self._object = "object", CallObject()
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
        self._read("".join(each.text for each in held if not self._is_call(each)))
        self._seeks_objects = before

    def _is_call(self, held: _Held) -> bool:
        """Whether something held isn't shown although text follows it."""
        return held.is_tagged and may_hold_call(held.text)

    def _finish(self, *, is_cut: bool = False) -> None:
        """Settle what was held: nothing follows."""
        self._let_go_of_tag()
        if self._mode == "header":
            self._end_header()
        if self._mode == "thinking" and self._thought and not is_cut:
            self._give_back_thought()
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
        if self._names and self._held and self._held[-1].is_tagged:  # nothing that a tool could answer
            self._held[-1] = _Held(text=self._held[-1].text)
        if any(each.text.strip() for each in self._held if not self._is_call(each)):
            self._release_held()
            self._let_go_of_tag()
        self.calls = () if self.ended else tuple(calls)

    def _read_held(self, held: _Held) -> tuple[WrittenCall, ...] | None:
        """Return the calls in what was held; None if it is something else."""
        if held.text.isspace() and not held.is_tagged:
            return ()
        read = read_tagged_calls if held.is_tagged else read_calls
        return read(held.text, self._names) or None

    def _show(self, kind: Shown, character: str) -> None:
        if self.ended:
            return
        if kind != self._watched or self._fences.is_code:
            self._watch.forget()
            self._watched = kind
        if not self._fences.is_code and self._watch.sees_repetition(character):
            self.ended = "repetition"
            return
        self._append(kind, character)

    def _append(self, kind: Shown, character: str) -> None:
        self._has_said = self._has_said or (kind == "text" and not character.isspace())
        if not self._shown or self._shown[-1][0] != kind:
            self._shown.append((kind, []))
        self._shown[-1][1].append(character)
