"""What a section is made of, and how it is rendered: whole, or in as much room as it is given.

Which sections there are, and what stands in them, is in `sections`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.context.budget import count_tokens, shorten
from coaching.context.fences import open_tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One text of a section, fenced and whole. `tag` is empty where it is the section's only one.

    `unread` characters of it are not here; `path` is where `read_file` finds it. A bigger `weight`
    gives way later.
    """

    tag: str
    attributes: Mapping[str, object]
    text: str
    path: str = ""
    unread: int = 0
    weight: float = 1.0

    @property
    def tokens(self) -> int:
        """What it takes whole."""
        return count_tokens(self.render(None))

    def render(self, cap: int | None) -> str:
        """Render it with its tag, in at most `cap` tokens; None for whole."""
        text = self.text
        hint = f"; read_file {self.path} shows it whole" if self.path else ""
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
    """One section with its entries, the newest first."""

    name: str
    entries: Sequence[Entry]
    attributes: Mapping[str, object]

    @property
    def digest(self) -> str:
        """A short name of exactly this content, before anything gives way."""
        whole = repr(
            (self.name, sorted(self.attributes.items()), [(entry.render(None)) for entry in self.entries])
        )
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16]

    def render(self, caps: Sequence[int] | None = None) -> str:
        """Render it, each entry in at most its cap of tokens."""
        texts = [
            entry.render(caps[number] if caps is not None else None)
            for number, entry in enumerate(self.entries)
        ]
        return wrap(self.name, "\n".join(texts), self.attributes)

    def render_mark(self) -> str:
        """Render it as a word that it is left out."""
        number = len(self.entries)
        what = "1 text is" if number == 1 else f"{number} texts are"
        return wrap(self.name, f"[shortened: {what} left out; read_file shows them]", {})


def wrap(name: str, text: str, attributes: Mapping[str, object] | None = None) -> str:
    """Put fenced text into a section's tags."""
    return f"{open_tag(name, attributes or {})}\n{text}\n</{name}>"
