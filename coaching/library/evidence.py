"""Checks what a model says of a text against the text itself: quotes, names, and the words of dates.

Pure functions. A model that invents gets nothing stored: `checked` leaves out what the text doesn't say.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from coaching.library.dates import dates_meant

MIN_QUOTE_CHARACTERS = 8
_SPACES = re.compile(r"\s+")
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


def checked(
    claim: Claim, *, text: str, spoken_on: date | None = None, pages_read: Sequence[int] = ()
) -> Evidence | None:
    """Return what the text says of a claim, or None if its quote isn't in it.

    A date keeps the words that it comes from, and both are left out if the text doesn't have these words, or
    if they mean another day. Words like "next Friday" mean a day only where `spoken_on` is known.
    """
    quote = verbatim(text, claim.quote)
    if len(quote) < MIN_QUOTE_CHARACTERS:
        return None
    words = verbatim(text, claim.due_words)
    is_meant = claim.due_date in dates_meant(words, spoken_on=spoken_on)
    return Evidence(
        quote=quote,
        page=page_of(text, quote, pages_read=pages_read),
        owner=claim.owner.strip() if is_named(text, claim.owner) else "",
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


def page_of(text: str, quote: str, *, pages_read: Sequence[int] = ()) -> int | None:
    """Return the number of the page that a quote begins on; None if the text has no pages or no such quote.

    Pages are separated by form feeds. `pages_read` are their numbers, if not all of a document are there.
    """
    if "\f" not in text:
        return None
    wanted = _on_one_line(quote)
    pages = text.split("\f")
    places = [number for number, page in enumerate(pages) if wanted and wanted in _on_one_line(page)]
    if not places:  # it crosses from one page to the next
        pairs = pairwise(pages)
        places = [n for n, both in enumerate(pairs) if wanted and wanted in _on_one_line(" ".join(both))]
    if not places:
        return None
    return pages_read[places[0]] if places[0] < len(pages_read) else places[0] + 1


def is_named(text: str, name: str) -> bool:
    """Say whether a text has the words of a name, or its first or last one; titles alone are no name."""
    words = [word for word in _names(name) if word not in _TITLES]
    if not words:
        return False
    said = set(_names(text))
    return words[0] in said or words[-1] in said


def _names(text: str) -> list[str]:
    return [word.casefold() for word in _NAME.findall(unicodedata.normalize("NFC", text))]


def _on_one_line(text: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
