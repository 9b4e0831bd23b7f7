"""What stays of a letter that a model wrote: paragraphs that rest on sentences of the person. Pure.

A quote is found in one message of the day that it names, word by word, and is shown as the whole sentence.
Words of others are no quotes: quoted lines, code, what is in quotation marks, copied mails and long messages.
The text of a paragraph quotes nothing that its quotes don't say, and has no numbers but theirs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal
from uuid import UUID

from coaching.context.closeness import is_said_in
from coaching.context.sentences import sentences_of
from coaching.legacy_text.blocks import strip_block_tags
from coaching.letters.words import SaidWords
from coaching.library.promises import MAX_CHARACTERS
from coaching.library.spoken import QUOTATION, has_words, is_pasted, is_short, tokens_of, widened
from coaching.safety.card import danger_in

Kind = Literal["moved", "recurs", "done"]

MAX_PARAGRAPHS = 6
MAX_TEXT = 600
MAX_QUOTES = 3
MAX_QUOTE = 400
"""A longer sentence is no quote for a letter."""
_NUMBER = re.compile(r"\d+")
_LIST_MARKS = frozenset("-*+•–#>")
_SINGLE_MARKS = frozenset("'‘‚’")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedQuote:
    """Words that a model says the person wrote on a day."""

    words: str
    day: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedParagraph:
    """A paragraph as the model gives it."""

    kind: Kind
    text: str
    quotes: Sequence[ClaimedQuote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of the person, on one line, with its day and message."""

    sentence: str
    day: date
    session_id: UUID
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph with the quotes that it rests on: at least one."""

    kind: Kind
    text: str
    quotes: Sequence[Quote]


class Sayings:
    """All that the person wrote in a month, to find quotes in."""

    def __init__(self, said: Iterable[SaidWords]) -> None:
        self._said = [_Saying(each) for each in said]

    def find(self, claim: ClaimedQuote) -> Quote | None:
        """Return the sentence that a claimed quote stands in, if the person wrote it on that day."""
        wanted = [token.word for token in tokens_of(claim.words)]
        if claim.day is None or is_short(wanted):
            return None
        run = f" {' '.join(wanted)} "
        on_day = (saying for saying in self._said if saying.said.day == claim.day and run in saying.words)
        return next((quote for saying in on_day if (quote := saying.quote(wanted))), None)


class _Saying:
    """A message, read for quotes once it is needed."""

    def __init__(self, said: SaidWords) -> None:
        self.said = said

    @cached_property
    def words(self) -> str:
        """Its words on one line; empty where it may have been pasted."""
        text = self.said.text
        if len(text) > MAX_CHARACTERS or is_pasted(text):
            return ""
        return f" {' '.join(token.word for token in tokens_of(text))} "

    def quote(self, wanted: Sequence[str]) -> Quote | None:
        """Return the sentence that the words stand in, unless it may be somebody else's."""
        text = self.said.text
        found = widened(wanted, text)
        if found is None or isinstance(found, str):
            return None
        sentence = _without_list_mark(" ".join(text[found[0].start : found[-1].end].split()))
        is_of_others = bool(QUOTATION & set(sentence)) or _is_in_quotation(text, found[0].start)
        if is_of_others or len(sentence) > MAX_QUOTE or danger_in(sentence):
            return None
        said = self.said
        return Quote(sentence=sentence, day=said.day, session_id=said.session_id, number=said.number)


def checked(
    claimed: Iterable[ClaimedParagraph], sayings: Sayings, *, struck: Sequence[str] = ()
) -> Sequence[Paragraph]:
    """Return the paragraphs that rest on the person's words; `struck` are lines that may never be said.

    A sentence is quoted once.
    """
    kept: list[Paragraph] = []
    used: set[str] = set()
    for each in claimed:
        paragraph = _checked(each, sayings, struck, used)
        if paragraph is not None:
            kept.append(paragraph)
            used.update(quote.sentence for quote in paragraph.quotes)
    return kept[:MAX_PARAGRAPHS]


def _checked(
    claimed: ClaimedParagraph, sayings: Sayings, struck: Sequence[str], used: set[str]
) -> Paragraph | None:
    text = _without_list_mark(" ".join(strip_block_tags(claimed.text).split()))
    found = {quote.sentence: quote for each in claimed.quotes if (quote := sayings.find(each))}
    quotes = [quote for sentence, quote in found.items() if sentence not in used][:MAX_QUOTES]
    is_unfit = not (text and quotes) or len(text) > MAX_TEXT or danger_in(text) is not None
    if is_unfit or _says_struck([text, *(quote.sentence for quote in quotes)], struck):
        return None
    if not (_quotes_only(text, quotes) and _counts_only(text, quotes)):
        return None
    return Paragraph(kind=claimed.kind, text=text, quotes=quotes)


def _says_struck(texts: Iterable[str], struck: Sequence[str]) -> bool:
    sentences = [sentence for text in texts for sentence in sentences_of(text)]
    return any(is_said_in(line, sentence) for line in struck for sentence in sentences)


def _quotes_only(text: str, quotes: Sequence[Quote]) -> bool:
    """Say whether all that a text has in quotation marks is in its quotes; single marks quote nothing."""
    if sum(letter in QUOTATION for letter in text) % 2 or _has_single_quotation(text):
        return False
    return all(
        any(has_words(words, tokens_of(quote.sentence)) for quote in quotes) for words in _quoted_in(text)
    )


def _quoted_in(text: str) -> Iterator[Sequence[str]]:
    """Yield the words between each two quotation marks."""
    marks = [at for at, letter in enumerate(text) if letter in QUOTATION]
    for begin, end in zip(marks[::2], marks[1::2], strict=False):
        if words := [token.word for token in tokens_of(text, begin + 1, end)]:
            yield words


def _has_single_quotation(text: str) -> bool:
    """Say whether a single quotation mark begins a word: an apostrophe stands inside or after one."""
    return any(
        letter in _SINGLE_MARKS and not before.isalnum() and after.isalnum()
        for before, letter, after in zip(f" {text}", text, f"{text[1:]} ", strict=False)
    )


def _counts_only(text: str, quotes: Sequence[Quote]) -> bool:
    """Say whether all numbers of a text are in its quotes or their days."""
    known = {number for quote in quotes for number in _numbers_in(quote.sentence)}
    for quote in quotes:
        known.update(map(str, (quote.day.year, quote.day.month, quote.day.day)))
    return set(_numbers_in(text)) <= known


def _numbers_in(text: str) -> Iterator[str]:
    for found in _NUMBER.findall(text):
        yield found.lstrip("0") or "0"


def _without_list_mark(sentence: str) -> str:
    mark, _, rest = sentence.partition(" ")
    return rest if rest and _LIST_MARKS.issuperset(mark) else sentence


def _is_in_quotation(text: str, at: int) -> bool:
    """Say whether a place is inside quotation marks that were opened before it."""
    return sum(letter in QUOTATION for letter in text[:at]) % 2 == 1
