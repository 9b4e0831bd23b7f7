"""Tells the tags of models' templates from other text, one character at a time. No I/O."""

from collections.abc import Callable, Iterator

from coaching.engine.template_tags import BEGINNINGS, FIRST, TAGS

_AFTER_WORD = frozenset(",;:.!?…)")
_BETWEEN_WORDS = frozenset("(–—-|=→")
"""What a sentence, or the row of a table, goes on with after a tag and a blank."""


class TagReader:
    """Reads characters as tags, each as a whole, and other characters.

    It holds back what may become a tag, where one `may_begin`. It holds back one that `may_be_named` by a
    sentence until it is known whether a word follows in its line: then its characters come one by one. Both
    are asked when all before has been taken.
    """

    def __init__(self, *, may_begin: Callable[[], bool], may_be_named: Callable[[str], bool]) -> None:
        self._may_begin = may_begin
        self._may_be_named = may_be_named
        self._tag = ""  # may become one
        self._named: list[str] = []  # a tag, and the blanks after it

    def read(self, character: str) -> Iterator[str]:
        """Yield what is known by this character; exhaust the iterator."""
        if self._named and character.isspace() and character != "\n":
            self._named.append(character)
            return
        yield from self._settle(character)
        grown = self._tag + character
        if self._tag and grown.lower() in TAGS:
            self._tag = ""
            if self._may_be_named(grown):
                self._named = [grown]
            else:
                yield grown
        elif self._tag and grown.lower() in BEGINNINGS:
            self._tag = grown
        elif self._tag:
            yield from self._let_go()
            yield from self.read(character)
        elif character in FIRST and self._may_begin():
            self._tag = character
        else:
            yield character

    def close(self) -> Iterator[str]:
        """Yield what was held: nothing follows; exhaust the iterator."""
        yield from self._settle()
        yield from self._let_go()

    def _let_go(self) -> Iterator[str]:
        tag, self._tag = self._tag, ""
        yield from tag

    def _settle(self, following: str = "") -> Iterator[str]:
        """Yield a tag that may be named as what it is, by the character after it and its blanks, if any."""
        if not self._named:
            return
        tag, *blanks = self._named
        self._named = []
        is_word = following.isalnum() or following in _BETWEEN_WORDS if blanks else following in _AFTER_WORD
        yield from tag if is_word else (tag,)
        yield from blanks
