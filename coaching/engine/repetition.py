"""Notices that a model repeats one sentence without end. No I/O."""

import re

SENTENCES_IN_A_ROW = 4
LEAST_WORDS = 6
"""Shorter sentences are repeated on purpose, as in a breathing exercise."""

_ENDS = frozenset(".!?…")
_AFTER_END = frozenset("\"'”’»)]*_")
_WORD = re.compile(r"[^\W_]++")


class RepetitionWatch:
    """Reads a text by its characters. A sentence ends with its line, or with a full stop and a blank."""

    def __init__(self) -> None:
        self._sentence: list[str] = []
        self._has_end = False
        self._last: list[str] = []
        self._count = 0

    def forget(self) -> None:
        """Begin anew: what follows is no part of the same text."""
        self._sentence.clear()
        self._has_end = False
        self._last = []

    def sees_repetition(self, character: str) -> bool:
        """Return whether the sentence that ended before `character` is one too many."""
        if character.isspace() and (self._has_end or character == "\n"):
            return self._ends_sentence()
        self._sentence.append(character)
        if character not in _AFTER_END:
            self._has_end = character in _ENDS
        return False

    def _ends_sentence(self) -> bool:
        words = _WORD.findall("".join(self._sentence).lower())
        self._sentence.clear()
        self._has_end = False
        if all(map(str.isdigit, words)):  # an empty line, or the number of an item
            return False
        self._count = self._count + 1 if words == self._last else 1
        self._last = words
        return self._count >= SENTENCES_IN_A_ROW and len(words) >= LEAST_WORDS
