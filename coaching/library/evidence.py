"""The rule for all that is stored of what a model says of a text: quotes, values, names, the words of dates.

Pure. A value is in its quote, and the quote in the document's own text: not in the marks that a request
adds to it. The page is where the quote stands, never what the model says. The rest is left out.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from coaching.library.amounts import SIGNS, DecimalMark, decimal_mark, is_unit
from coaching.library.calendar_words import CAPITALISED, folded
from coaching.library.dates import (
    DateOrder,
    dates_meant,
    order_of_dates,
    words_meaning,
    written_dates,
)
from coaching.library.deadlines import date_of_letter, days_counted
from coaching.library.spoken_days import days_said
from coaching.library.values import stands_in, unsupported

MIN_QUOTE_CHARACTERS = 8
"""Fewer, after normalising, are no evidence."""
MAX_QUOTE = 1_000
"""A longer passage says nothing about where a value stands."""
_UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts that are written without spaces: each is a token."""
_TOKEN = re.compile(rf"\d++(?:[.,:/'-]\d++)*+|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]++|[{SIGNS}]")
_SIGNS = str.maketrans("‐‑‒–—−’‘", "------''")
_MIN_STEM = 4
_SPACES = re.compile(r"\s+")
_LINE_ENDS = re.compile(r"\s")
_NAME = re.compile(r"[^\W_]+", re.UNICODE)
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "dame", "the", "and"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a model says that somebody has to do, and the sentence that it gives for it."""

    quote: str
    owner: str = ""
    due_words: str = ""
    due_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What of a claim the text says: the quote as it stands there and its page; the rest may be empty."""

    quote: str
    page: int | None
    owner: str
    due_words: str
    due_date: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of a document as it stands there, on one line, and its page."""

    quote: str
    page: int | None


class Source:
    """A document's own text, to find quotes in. Pages are separated by form feeds.

    `pages_read` are the numbers of the pages, if not all of a document are there.
    """

    def __init__(self, text: str, *, pages_read: Sequence[int] = ()) -> None:
        self.text = text
        self._pages_read = pages_read

    def find(self, quote: str) -> Passage | None:
        """Return the passage that a quote repeats; None if there is none, or if the quote is too short.

        Case, white space, punctuation and the way that characters are encoded may differ.
        """
        plain = _plain(quote).strip()
        asked = _tokens(plain)
        wanted = " ".join(token for token, _, _ in asked)
        if len(wanted) < MIN_QUOTE_CHARACTERS:
            return None
        text, tokens, joined, starts = self._read
        at = joined.find(f" {wanted} ")
        if at < 0:
            return None
        first = bisect_right(starts, at) - 1
        last = bisect_right(starts, at + len(wanted)) - 1
        begin, end = tokens[first][1], tokens[last][2]
        closing = plain[asked[-1][2] :].strip("\"“”„«»' ")
        end += len(closing) if text.startswith(closing, end) else 0
        return Passage(quote=_on_one_line(text[begin:end]), page=self._page_at(text, begin))

    def has_parts(self, parts: Sequence[str], *, cut: Collection[int] = ()) -> bool:
        """Say whether the text has all parts of a quote, in their order, one of which is long enough.

        `cut` has the numbers of the parts whose last word may be just the beginning of one.
        """
        joined = self._read[2]
        place, longest = 0, 0
        for number, part in enumerate(parts):
            tokens = [token for token, _, _ in _tokens(_plain(part))]
            if not tokens:
                continue
            wanted = " ".join(tokens)
            is_whole = number not in cut or not tokens[-1].isalpha()
            place = joined.find(f" {wanted} " if is_whole else f" {wanted}", place)
            if place < 0:
                return False
            place += len(wanted) + 1
            longest = max(longest, len(wanted))
        return longest >= MIN_QUOTE_CHARACTERS

    def bears_out(self, value: str, quote: str) -> Passage | None:
        """Return the passage that a quote repeats, if the value is in it."""
        found = self.find(quote)
        is_there = found is not None and stands_in(value, found.quote, order=self.order, mark=self.mark)
        return found if is_there else None

    def states(self, words: str, passage: Passage) -> bool:
        """Say whether a passage of this text has all dates, numbers and names in some words."""
        said = set(_names(passage.quote))
        return not self.lacks(words, passage) and all(
            any(_is_form_of(name, word) for word in said) for name in _proper_names(words, self.order)
        )

    def lacks(self, words: str, passage: Passage) -> bool:
        """Say whether some words have a date or a number that a passage of this text doesn't have."""
        return unsupported(words, passage.quote, order=self.order, mark=self.mark)

    def words_of_day(self, day: date, passage: Passage) -> str:
        """Return the words of a passage that mean a day and no other; empty if there are none.

        They may count from the letter's own date, where that is sure.
        """
        words = words_meaning(passage.quote, day, order=self.order, spoken_on=self.written_on)
        if words or self.written_on is None:
            return words
        counted = days_counted(passage.quote, self.written_on)
        return next((passage.quote[start:end] for start, end, meant in counted if meant == day), "")

    @cached_property
    def order(self) -> DateOrder | None:
        """What dates such as 3/4/2027 begin with in this text."""
        return order_of_dates(self.text)

    @cached_property
    def mark(self) -> DecimalMark | None:
        """What stands before the decimals of this text's amounts."""
        return decimal_mark(self.text)

    @cached_property
    def written_on(self) -> date | None:
        """The day on which this letter was written, if that is sure."""
        return date_of_letter(self.text, order=self.order)

    @cached_property
    def _read(self) -> tuple[str, list[tuple[str, int, int]], str, list[int]]:
        """Return the text, its tokens, these on one line, and where each begins there."""
        text = _plain(self.text)
        tokens = _tokens(text)
        starts, position = [], 0
        for token, _, _ in tokens:
            starts.append(position)
            position += len(token) + 1
        return text, tokens, f" {' '.join(token for token, _, _ in tokens)} ", starts

    def _page_at(self, text: str, position: int) -> int | None:
        if "\f" not in text:
            return None
        place = text.count("\f", 0, position)
        is_listed = len(self._pages_read) == text.count("\f") + 1
        return self._pages_read[place] if is_listed else place + 1


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_SIGNS)


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(found[0].casefold(), found.start(), found.end()) for found in _TOKEN.finditer(text)]


def checked(claim: Claim, *, source: Source, spoken_on: date | None = None) -> Evidence | None:
    """Return what the text says of a claim, or None if its quote isn't in it.

    A date keeps the words that it comes from, and both are left out if the text doesn't have these words, or
    if they mean another day. Words like "next Friday" mean a day only where `spoken_on` is known.
    """
    passage = source.find(claim.quote)
    if passage is None:
        return None
    words = verbatim(source.text, claim.due_words)
    is_clear = all(len(days) == 1 for _, _, days in written_dates(words, order=source.order))
    meant = dates_meant(words, order=source.order)
    if not meant and spoken_on is not None:
        meant = days_said(words, spoken_on=spoken_on, order=source.order)
    is_meant = is_clear and claim.due_date in meant
    return Evidence(
        quote=passage.quote,
        page=passage.page,
        owner=claim.owner.strip() if is_named(source.text, claim.owner) else "",
        due_words=words,
        due_date=claim.due_date if is_meant else None,
    )


def verbatim(text: str, quote: str) -> str:
    """Return the passage of the text that a quote repeats word by word, on one line; empty if there is none.

    Only white space and the way that accents are encoded may differ.
    """
    wanted = _on_one_line(quote).strip("\"“”„«»' ")
    if not wanted:
        return ""
    return wanted if wanted in _on_one_line(text) else ""


def is_named(text: str, name: str) -> bool:
    """Say whether a text has the words of a name, or its first or last one; titles alone are no name."""
    words = [word for word in _names(name) if word not in _TITLES]
    if not words:
        return False
    said = set(_names(text))
    return words[0] in said or words[-1] in said


def _proper_names(words: str, order: DateOrder | None) -> Iterator[str]:
    """Yield the words with a capital that don't begin a sentence, but for dates, weekdays and currencies."""
    plain = unicodedata.normalize("NFC", words)
    dates = [range(start, end) for start, end, _ in written_dates(_LINE_ENDS.sub(" ", plain), order=order)]
    for found in _NAME.finditer(plain):
        word, before = found[0], plain[: found.start()].rstrip(" \t\"“”„«»'‘’([*-–•")
        is_first = not before or before[-1] in ".!?:;…\r\n"
        is_other = len(word) < 2 or folded(word) in CAPITALISED or is_unit(word)
        is_dated = any(found.start() in each for each in dates)
        if word[0].isupper() and not is_first and not is_other and not is_dated:
            yield word.casefold()


def _is_form_of(one: str, other: str) -> bool:
    """Say whether words differ only in how they end: Berg and Bergs."""
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _MIN_STEM and longer.startswith(shorter))


def _names(text: str) -> list[str]:
    return [word.casefold() for word in _NAME.findall(unicodedata.normalize("NFC", text))]


def _on_one_line(text: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
