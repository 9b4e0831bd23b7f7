"""A language that is English in brackets: whatever a page shows outside of brackets comes from no catalogue.

A translation is in brackets except for its placeholders, whose values have to bring brackets of their own.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.utils.translation import trans_real

CODE = "de"
"""The language that is in brackets meanwhile."""
_PLACEHOLDER = re.compile(r"(%\(\w+\)[sd]|%[sd]|\{\w*\})")
_TRANSLATED = re.compile(r"⟦[^⟦⟧]*⟧")
_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’_][^\W\d_]+)*")
_SILENT = frozenset({"script", "style", "code", "kbd", "samp", "datalist"})
"""Lists of cities are among them: their names are those of the time zones."""
_SPOKEN = frozenset({"alt", "aria-label", "label", "placeholder", "title"})


class Bracketed(trans_real.DjangoTranslation):
    """Translates every text, known or not."""

    def gettext(self, message: str) -> str:
        text = _PLACEHOLDER.sub(r"⟧\1⟦", message.rpartition(trans_real.CONTEXT_SEPARATOR)[2])
        return f"⟦{text}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def speak_in_brackets(patch: pytest.MonkeyPatch) -> None:
    """Let everything that is in German be in brackets instead."""
    patch.setitem(vars(trans_real)["_translations"], CODE, Bracketed(CODE))


def words_outside(html: str) -> Iterator[str]:
    """Yield the words of a page, or of a text without tags, that are in no brackets."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for text in ("\n".join(reader.shown), *reader.spoken):
        yield from _WORD.findall(_TRANSLATED.sub(" ", text))


class _Reader(HTMLParser):
    """Collects what a page shows, and what its attributes say."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []
        self.spoken: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        self.spoken += [value for name, value in attrs if value and self._is_spoken(tag, name, dict(attrs))]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.shown.append(data)

    @staticmethod
    def _is_spoken(tag: str, name: str, attributes: dict[str, str | None]) -> bool:
        is_described = tag == "meta" and name == "content" and attributes.get("name") == "description"
        return name in _SPOKEN or is_described
