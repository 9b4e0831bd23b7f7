"""The text of a letter: a fixed greeting and close, and the paragraphs with their quotes. Pure.

Its language is the active one; the paragraphs are in the person's. What a model or a person wrote is plain
text in markdown: it has no links, pictures or headings.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.letters.checking import Kind, Paragraph, Quote

HEADINGS: Mapping[Kind, str | Promise] = {
    "moved": gettext_lazy("What moved"),
    "recurs": gettext_lazy("What came back"),
    "done": gettext_lazy("What became of what you said"),
}
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<&~"})


def letter_body(paragraphs: Sequence[Paragraph], *, month: date, name: str) -> str:
    """Return a letter's body in markdown."""
    return "\n\n".join(_parts(paragraphs, month, name))


def preview_of(paragraphs: Sequence[Paragraph], *, characters: int) -> str:
    """Return the line that lists show of a letter: its first quote."""
    sentence = paragraphs[0].quotes[0].sentence
    is_whole = len(sentence) + 2 <= characters
    return _quoted(sentence if is_whole else f"{sentence[: characters - 3].rstrip()}…")


def _parts(paragraphs: Sequence[Paragraph], month: date, name: str) -> Iterator[str]:
    yield _("Dear %(name)s,") % {"name": _plain(name)} if name else _("Hello,")
    shown = date_format(month, "YEAR_MONTH_FORMAT")
    yield _("This is what I noticed in what you wrote to me in %(month)s.") % {"month": shown}
    in_order = sorted(paragraphs, key=lambda each: list(HEADINGS).index(each.kind))
    for kind, group in groupby(in_order, key=lambda each: each.kind):
        yield f"## {HEADINGS[kind]}"
        for paragraph in group:
            yield _plain(paragraph.text)
            yield from map(_quote, paragraph.quotes)
    if len(paragraphs) == 1:
        yield _("It’s a short letter: there’s nothing else that I can show you in your own words.")
    yield _("Each part rests on sentences that you wrote. The letter is yours: change it or delete it.")
    yield _("Until next month,") + "  \nSage"


def _quote(quote: Quote) -> str:
    day = date_format(quote.day, "MONTH_DAY_FORMAT")
    return f"> {_quoted(_plain(quote.sentence))}  \n> {day}"


def _quoted(words: str) -> str:
    return _("“%(name)s”") % {"name": words}


def _plain(text: str) -> str:
    """Return text that markdown shows as it is."""
    return text.translate(_ESCAPED)
