"""What is shown of a reply that is being cleaned, in pieces of text and thinking. No I/O."""

from dataclasses import dataclass
from typing import Literal

from coaching.engine.repetition import RepetitionWatch

Shown = Literal["text", "thinking"]
Kind = Literal["text", "thinking", "void_text", "void_thinking"]
"""All text so far was thinking, or the thinking that came last was text, which follows again."""


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Kind
    text: str = ""


class ShownPieces:
    """Collects what is shown until it is taken. `has_text`: it has more text than blanks."""

    def __init__(self) -> None:
        self.has_text = False
        self._pieces: list[tuple[Kind, list[str]]] = []
        self._watch = RepetitionWatch()
        self._watched: Shown = "text"

    def add(self, kind: Shown, character: str, *, is_code: bool) -> bool:
        """Add a character, unless the sentence before it is one too many; return whether it was added."""
        if kind != self._watched or is_code:
            self._watch.forget()
            self._watched = kind
        if not is_code and self._watch.sees_repetition(character):
            return False
        self.add_unwatched(kind, character)
        return True

    def add_unwatched(self, kind: Shown, character: str) -> None:
        self.has_text = self.has_text or (kind == "text" and not character.isspace())
        if not self._pieces or self._pieces[-1][0] != kind:
            self._pieces.append((kind, []))
        self._pieces[-1][1].append(character)

    def void_text(self) -> None:
        """Make thinking of all text so far."""
        self._pieces.append(("void_text", []))
        self._watch.forget()
        self.has_text = False

    def void_thinking(self) -> None:
        """Take back the thinking that came last."""
        self._pieces.append(("void_thinking", []))

    def take(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return [Piece(kind, "".join(characters)) for kind, characters in pieces]
