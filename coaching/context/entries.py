"""The parts of a section, and how it is rendered: whole, or within a number of tokens.

Which sections exist and what they contain is in `sections`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.context.budget import count_tokens, shorten
from coaching.context.fences import open_tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One text of a section, fenced. `tag` is empty if it is the section's only one.

    `unread` of its characters weren't read; `path` has the whole text. A bigger `weight` is shortened later.
    """

    tag: str
    attributes: Mapping[str, object]
    text: str
    path: str = ""
    unread: int = 0
    weight: float = 1.0

    def render(self, cap: int | None, *, file_reader: str) -> str:
        """Render it with its tag, in at most `cap` tokens; None for whole."""
        text = self.text
        hint = f"; {file_reader} {self.path} shows it whole" if self.path else ""
        if cap is not None:
            text = shorten(text, max(0, cap - self._tag_tokens), hint=hint)
        if self.unread and text == self.text:
            text = f"{text}\n[shortened: {self.unread:,} characters are left out{hint}]"
        return f"{open_tag(self.tag, self.attributes)}\n{text}\n</{self.tag}>" if self.tag else text

    @property
    def _tag_tokens(self) -> int:
        return count_tokens(open_tag(self.tag, self.attributes)) + 4 if self.tag else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section with its entries, the newest first. `file_reader` is the tool that shows a file whole."""

    name: str
    entries: Sequence[Entry]
    attributes: Mapping[str, object]
    file_reader: str = ""

    @property
    def sizes(self) -> list[int]:
        """The tokens that each entry takes whole."""
        return [count_tokens(text) for text in self._texts()]

    @property
    def digest(self) -> str:
        """A hash of the content before anything is shortened."""
        whole = repr((self.name, sorted(self.attributes.items()), self._texts()))
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16]

    def render(self, caps: Sequence[int] | None = None) -> str:
        """Render it, each entry in at most its cap of tokens; None for whole."""
        return wrap(self.name, "\n".join(self._texts(caps)), self.attributes)

    def render_mark(self) -> str:
        number = len(self.entries)
        what = "1 text is" if number == 1 else f"{number} texts are"
        return wrap(self.name, f"[shortened: {what} left out; {self.file_reader} shows them]", {})

    def _texts(self, caps: Sequence[int] | None = None) -> list[str]:
        caps_or_whole = [None] * len(self.entries) if caps is None else caps
        return [
            entry.render(cap, file_reader=self.file_reader)
            for entry, cap in zip(self.entries, caps_or_whole, strict=True)
        ]


def wrap(name: str, text: str, attributes: Mapping[str, object] | None = None) -> str:
    """Put fenced text into a section's tags."""
    return f"{open_tag(name, attributes or {})}\n{text}\n</{name}>"
