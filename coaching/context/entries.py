"""The parts of a section, and how it is rendered: whole, or within a number of tokens.

Which sections exist and what they contain is in `sections`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coaching.context.budget import count_tokens, shorten
from coaching.context.fences import open_tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One text of a section, fenced. `tag` is empty if it is the section's only one.

    `unread` of its characters weren't read; `path` has the whole text. A bigger `weight` is shortened later.
    `key` names it in a section whose changes are told entry by entry.
    """

    tag: str
    attributes: Mapping[str, object]
    text: str
    path: str = ""
    unread: int = 0
    weight: float = 1.0
    key: str = ""

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
    """One section with its entries, the newest first. `file_reader` is the tool that shows a file whole.

    Where its entries have keys, its digest says what each of them was, so that a change is told as that entry
    alone. `whole_digest` is then the digest of the section that such a part belongs to.
    """

    name: str
    entries: Sequence[Entry]
    attributes: Mapping[str, object]
    file_reader: str = ""
    whole_digest: str = ""

    @property
    def sizes(self) -> list[int]:
        """The tokens that each entry takes whole."""
        return [count_tokens(text) for text in self._texts()]

    @property
    def digest(self) -> str:
        """A hash of the content before anything is shortened, or one of each entry."""
        if self.whole_digest:
            return self.whole_digest
        if all(entry.key for entry in self.entries):
            return " ".join(self._digests())
        return _hash(repr((self.name, sorted(self.attributes.items()), self._texts())))[:16]

    def since(self, said: str) -> "Section | None":
        """Return what is new since the digest `said`: the section, some of its entries, or nothing."""
        if said == self.digest:
            return None
        if not said or not all(entry.key for entry in self.entries):
            return self
        before = set(said.split())
        pairs = zip(self._digests(), self.entries, strict=True)
        new = tuple(entry for digest, entry in pairs if digest not in before)
        return replace(self, entries=new, whole_digest=self.digest) if new else None

    def _digests(self) -> list[str]:
        rendered = (entry.render(None, file_reader=self.file_reader) for entry in self.entries)
        return [_hash(f"{entry.key} {text}")[:8] for entry, text in zip(self.entries, rendered, strict=True)]

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


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def wrap(name: str, text: str, attributes: Mapping[str, object] | None = None) -> str:
    """Put fenced text into a section's tags."""
    return f"{open_tag(name, attributes or {})}\n{text}\n</{name}>"
