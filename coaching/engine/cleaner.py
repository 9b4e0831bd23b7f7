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
"""

from collections.abc import Iterable
from typing import Literal

from coaching.engine import template_tags as tags
from coaching.engine.fences import Fences
from coaching.engine.held_calls import HeldCalls, TaggedCall
from coaching.engine.json_objects import Braces, CallObject
from coaching.engine.shown_pieces import Piece, Shown, ShownPieces
from coaching.engine.tag_reader import TagReader
from coaching.engine.written_calls import WrittenCall

OpenKind = Literal["text", "thinking", "tool_use"]
Ended = Literal["", "role", "repetition"]
Mode = Literal["text", "thinking", "call", "object", "after_call", "header"]


class Cleaner:
    """Cleans one reply: feed its text, then close it. `names` are the tools that a call in text may name.

    After an `ended` nothing that is fed counts, but it is known whether text followed. `calls` are those that
    the text ends with. A structured answer is an object of JSON.
    """

    def __init__(self, names: frozenset[str] = frozenset(), *, is_structured: bool = False) -> None:
        self.ended: Ended = ""
        self.is_followed = False
        self.calls: tuple[WrittenCall, ...] = ()
        self._mode: Mode = "text"
        self._reader = TagReader(may_begin=self._may_begin_tag, may_be_named=self._may_be_named)
        self._closing_tag = self._header = ""
        self._held = HeldCalls(names)
        self._call = TaggedCall()
        self._thought: list[str] = []
        self._object = CallObject()
        self._seeks_objects = bool(names)
        self._seeks_reasoning = True
        self._is_structured = is_structured
        self._braces: Braces | None = None
        self._struck = 0
        self._skips_blanks = False
        self._has_reasoned = False
        self._fences = Fences()
        self._shown = ShownPieces()

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
        return self._shown.take()

    def close(self, *, is_cut: bool = False) -> list[Piece]:
        """Return what was held: nothing follows. `is_cut`: the text is no whole end of a reply."""
        if not self.ended:
            self._finish(is_cut=is_cut)
        return self._shown.take()

    def _read(self, text: str) -> None:
        for character in text:
            if self.is_over:
                return
            if self._braces is not None and self._braces.is_open and not self.ended:
                self._braces.add(character)
                self._shown.add_unwatched("text", character)
            else:
                self._take_all(self._reader.read(character))

    def _take_all(self, found: Iterable[str]) -> None:
        for each in found:
            self._take(each)

    def _take(self, found: str) -> None:
        """Take a tag, or a character that belongs to none."""
        if self.ended:
            self.is_followed = self.is_followed or not found.isspace()
        elif len(found) == 1:
            self._add(found)
        else:
            if self._mode == "header":
                self._end_header()
            if tags.is_in_brackets(found):
                self._add_all(found)
            elif not self.ended:
                self._act(found.lower(), found)

    def _may_begin_tag(self) -> bool:
        if self.ended or self._mode == "object":
            return False
        if self._mode == "text" and self._fences.is_open and self._fences.ends_here():
            self._fences.close()  # a role token follows at once
        return self._mode != "text" or not (self._fences.is_code or self._fences.is_quoted)

    def _may_be_named(self, tag: str) -> bool:
        """Whether a sentence may name a tag that ends a turn or reasoning: a blank comes before."""
        is_end = tag.lower() in tags.ENDS and not tags.is_in_brackets(tag) and not self._is_struck(tag)
        return self._mode == "text" and is_end and self._fences.is_between_words

    def _is_struck(self, tag: str) -> bool:
        return tag.lower() == tags.STRUCK_END and self._struck > 0

    def _add_all(self, characters: str) -> None:
        for character in characters:
            self._add(character)

    def _act(self, tag: str, raw: str) -> None:
        if tag == tags.STRUCK or self._is_struck(tag):
            self._struck += 1 if tag == tags.STRUCK else -1
            self._add_all(raw)
        elif self._mode == "text" and self._is_word(tag):
            self._add_all(raw)
        elif tag in tags.ROLES:
            self._take_role(tag)
        elif self._mode in ("thinking", "call") and tag == self._closing_tag:
            self._close_tags(raw)
        elif self._mode == "thinking" or (self._mode == "call" and tag not in tags.CALLS):
            self._add_all(raw)
        elif tag in tags.CALLS:
            self._open_call(tag, raw)
        elif tag in tags.REASONING:
            self._open_reasoning(tag)
        elif tag in tags.REASONING_ENDS and not self._has_reasoned:
            self._end_reasoning_of_template()

    def _is_word(self, tag: str) -> bool:
        """Whether a sentence names a tag that neither begins a call nor ends a turn or reasoning."""
        return tag not in tags.CALLS and tag not in tags.ENDS and not self._fences.is_at_sentence_start

    def _take_role(self, tag: str) -> None:
        """End the answer, or leave out what precedes it."""
        if self._mode != "text" or self._shown.has_text or self._held or tag in tags.OTHERS_TURNS:
            self._finish()
            self.ended = self.ended or "role"
            return
        self._skips_blanks = True
        if tag in tags.HEADERS:
            self._mode = "header"

    def _end_header(self) -> None:
        role, self._header = self._header, ""
        self._mode = "text"
        if role.lower() in tags.OTHERS_ROLES:
            self.ended = "role"
        elif role.lower() not in tags.OWN_ROLES:
            self._add_all(role)

    def _open_call(self, tag: str, raw: str) -> None:
        if self._mode == "call":
            self._close_tags()
        self._mode, self._closing_tag = "call", tags.CALLS[tag]
        is_named = tag in tags.WORDY_CALLS and not self._held and not self._fences.is_at_sentence_start
        self._call = TaggedCall(raw, may_be_word=is_named)

    def _open_reasoning(self, tag: str) -> None:
        self._release_held()
        if self._seeks_reasoning:
            self._mode, self._closing_tag = "thinking", tags.REASONING[tag]
            self._has_reasoned = True
            self._thought.clear()

    def _end_reasoning_of_template(self) -> None:
        self._has_reasoned = self._skips_blanks = True
        self._mode = "text"
        self._held.drop()
        self._fences = Fences()
        self._shown.void_text()

    def _give_back_thought(self) -> None:
        """Read again as text what was taken for thinking, since nothing closed it."""
        self._mode = "text"
        self._seeks_reasoning = False
        self._skips_blanks = not self._shown.has_text
        self._shown.void_thinking()
        self._read("".join(self._thought))
        self._take_all(self._reader.close())

    def _close_tags(self, raw: str = "") -> None:
        """End thinking or a call, as its closing tag `raw` says."""
        if self._mode == "thinking":
            self._mode = "text"
            self._skips_blanks = not self._shown.has_text
        elif self._call.is_word:
            self._take_call_for_words(raw)
        else:
            self._held.hold(self._call.text, is_tagged=True)
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
            case "header" if character.isalpha() and len(self._header) < tags.LONGEST_ROLE:
                self._header += character
            case "header":
                self._end_header()
                self._read(character)
            case "after_call" if character.isspace():
                self._held.hold(character)
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
            self._read(character)
        elif not (self._skips_blanks and character.isspace()):
            self._skips_blanks = False
            self._show("text", character)
            self._fences.add(character)

    def _add_to_call(self, character: str) -> None:
        self._call.add(character)
        if not character.isspace() and self._call.is_word:
            self._take_call_for_words()

    def _take_call_for_words(self, closing_tag: str = "") -> None:
        self._mode = "text"
        self._add_all(self._call.opening_tag + self._call.text + closing_tag)

    def _begin_object(self) -> None:
        self._mode, self._object = "object", CallObject()
        self._object.accepts("{")

    def _add_to_object(self, character: str) -> None:
        may_be_call = self._object.accepts(character)
        if may_be_call and not self._object.is_whole:
            return
        self._held.hold("".join(self._object.characters))
        if may_be_call:
            self._mode = "after_call"
        else:
            self._release_held()

    def _release_held(self) -> None:
        """Read what was held as text, in which no call is sought again."""
        self._mode = "text"
        before, self._seeks_objects = self._seeks_objects, False
        self._read(self._held.take_text())
        self._seeks_objects = before

    def _finish(self, *, is_cut: bool = False) -> None:
        """Settle what was held: nothing follows."""
        self._take_all(self._reader.close())
        if self._mode == "header":
            self._end_header()
        if self._mode == "thinking" and self._thought and not is_cut:
            self._give_back_thought()
        if self._mode == "object":
            self._held.hold("".join(self._object.characters))
            self._release_held()
            self._take_all(self._reader.close())
        if self._mode == "call":
            self._close_tags()
        calls = self._held.take_calls()
        if self._held.has_text:
            self._release_held()
            self._take_all(self._reader.close())
        self.calls = () if self.ended else calls

    def _show(self, kind: Shown, character: str) -> None:
        if not self.ended and not self._shown.add(kind, character, is_code=self._fences.is_code):
            self.ended = "repetition"
