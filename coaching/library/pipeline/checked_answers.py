"""What a summary or an analysis says, as far as the document's own text confirms it. No database.

Nothing that a model invents is stored: a point or an item without a passage of the text is left out.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.engine.json_text import without_fence
from coaching.library.dates import dates_meant
from coaching.library.evidence import Claim, Evidence, Source, checked

MAX_POINTS = 12
MAX_ITEMS = 20
MAX_SUMMARY = 2_000

ModelT = TypeVar("ModelT", bound=BaseModel)

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?\s*")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_DATED = re.compile(
    r"\b(?:date|dated|recorded|meeting|call|held|datum|besprechung|sitzung|gespräch|fecha|reunión|réunion|data"
    r"|reunião|riunione|vergadering|spotkanie|möte|møde|toplantı|tarih|дата|встреча|зустріч)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 4
_HEAD_LINES = 12
_TENTATIVE = re.compile(
    r"\?\s*$|\b(?:could|might|maybe|perhaps|suggest\w*|propos\w*|what if|let['’]s think|think about"
    r"|consider\w*|would it|should we|wonder\w*|idea)\b",
    re.IGNORECASE,
)


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore")


class PointSaid(_Said):
    """A point of a summary, with the passage that it rests on."""

    text: str
    page: int = 0
    quote: str = ""


class SummarySaid(_Said):
    """A summary as the model gives it, of a part or of the whole."""

    summary: str
    points: list[PointSaid] = Field(default_factory=list)


class SpeakerSaid(_Said):
    """Somebody who spoke."""

    name: str
    role: str = ""


class LineSaid(_Said):
    """A decision or an open question."""

    text: str
    quote: str = ""


class ActionSaid(_Said):
    """Something that somebody has to do."""

    title: str
    description: str = ""
    owner: str = ""
    due_words: str = ""
    due_date: str = ""
    priority: Literal["low", "medium", "high"] = "medium"
    quote: str = ""


class TranscriptSaid(_Said):
    """An analysis as the model gives it."""

    summary: str = ""
    speakers: list[SpeakerSaid] = Field(default_factory=list)
    decisions: list[LineSaid] = Field(default_factory=list)
    action_items: list[ActionSaid] = Field(default_factory=list)
    open_questions: list[LineSaid] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point that the text bears out; `page` is None where the text has no pages."""

    text: str
    quote: str
    page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary that the text bears out."""

    text: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A next step that the text bears out. Its key stays the same when the document is read again."""

    title: str
    description: str
    priority: str
    evidence: Evidence
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """An analysis that the text bears out."""

    summary: str
    speakers: Sequence[str]
    decisions: Sequence[Point]
    actions: Sequence[Action]
    open_questions: Sequence[Point]

    @property
    def says_something(self) -> bool:
        return bool(self.decisions or self.actions or self.open_questions)


def parse(answer: str, model: type[ModelT]) -> ModelT | None:
    """Read a structured answer; None for one that can't be read."""
    try:
        return model.model_validate(json.loads(without_fence(answer)))
    except (ValidationError, ValueError, RecursionError):
        return None


def check_summary(said: SummarySaid, *, text: str, pages_read: Sequence[int] = ()) -> Summary | None:
    """Return what the text bears out of a summary; None if that is no point at all."""
    source = Source(text, pages_read=pages_read)
    points = list(islice(_points([(each.text, each.quote) for each in said.points], source), MAX_POINTS))
    if not points:
        return None
    return Summary(text=_borne_out(said.summary, text), points=points)


def check_transcript(
    said: TranscriptSaid,
    *,
    text: str,
    pages_read: Sequence[int] = (),
    known: Mapping[str, str] | None = None,
) -> Transcript:
    """Return what the text bears out of an analysis.

    `known` are the keys of the document's earlier items by their quotes.
    """
    source = Source(text, pages_read=pages_read)
    decisions = [(each.text, each.quote) for each in said.decisions if not is_tentative(each.quote)]
    questions = [(each.text, each.quote) for each in said.open_questions]
    return Transcript(
        summary=_borne_out(said.summary, text),
        speakers=[_speaker(each, text) for each in said.speakers if _speaks(each.name, text)][:MAX_ITEMS],
        decisions=list(islice(_points(decisions, source), MAX_ITEMS)),
        actions=list(_actions(said.action_items, source, known or {}))[:MAX_ITEMS],
        open_questions=list(islice(_points(questions, source), MAX_ITEMS)),
    )


def is_tentative(quote: str) -> bool:
    """Say whether a sentence only proposes or asks."""
    return bool(_TENTATIVE.search(quote.strip()))


def spoken_on(text: str) -> date | None:
    """Return the day of a meeting, where the head of its transcript names one and no other."""
    lines = [line for line in text.splitlines()[:_HEAD_LINES] if _DATED.search(line)]
    days = frozenset().union(*(dates_meant(line) for line in lines)) if lines else frozenset()
    return next(iter(days)) if len(days) == 1 else None


def _actions(said: Sequence[ActionSaid], source: Source, known: Mapping[str, str]) -> Iterator[Action]:
    text = source.text
    day = spoken_on(text)
    taken: dict[str, int] = {}
    for each in said:
        claim = Claim(
            quote=each.quote, owner=each.owner, due_words=each.due_words, due_date=_day(each.due_date)
        )
        evidence = checked(claim, source=source, spoken_on=day)
        title = " ".join(each.title.split())[:200]
        if evidence is None or not _is_of_the_text(title, text):
            continue
        base = _known_key(evidence.quote, known) or f"transcript:{_hash(evidence.quote)}"
        taken[base] = taken.get(base, 0) + 1
        key = base if taken[base] == 1 else f"{base}:{taken[base]}"
        yield Action(
            title=title,
            description=_borne_out(each.description, text),
            priority=each.priority,
            evidence=evidence,
            key=key,
        )


def _is_of_the_text(title: str, text: str) -> bool:
    """Say whether the text has most words of a title, in whatever form."""
    words = {word[:_STEM] for word in _WORD.findall(title.casefold())}
    said = {word[:_STEM] for word in _WORD.findall(text.casefold())}
    return 2 * len(words & said) > len(words) if words else bool(title)


def _known_key(quote: str, known: Mapping[str, str]) -> str:
    """Return the key of an earlier item from the same sentence, of which either quote may be a part."""
    plain = quote.casefold()
    found = (key for other, key in known.items() if plain in other.casefold() or other.casefold() in plain)
    return next(found, "")


def _points(said: Sequence[tuple[str, str]], source: Source) -> Iterator[Point]:
    for words, quoted in said:
        passage = source.find(quoted)
        if passage is None or not words.strip() or source.lacks(words, passage):
            continue
        yield Point(text=" ".join(words.split())[:400], quote=passage.quote[:400], page=passage.page)


def _borne_out(words: str, text: str) -> str:
    """Return the sentences whose numbers the text has, too."""
    said = set(_NUMBER.findall(text))
    kept = [part for part in _SENTENCE.findall(words) if said.issuperset(_NUMBER.findall(part))]
    return "".join(kept).strip()[:MAX_SUMMARY]


def _speaks(name: str, text: str) -> bool:
    """Say whether a line of a transcript begins with a name, as what somebody says does."""
    words = r"\s+".join(map(re.escape, name.split()))
    begins = re.compile(
        rf"^(?:<v\s+|(?:[^\w\n]|\d)*){words}\b[^\n:>]{{0,40}}[:>]", re.IGNORECASE | re.MULTILINE
    )
    return bool(words) and begins.search(text) is not None


def _speaker(said: SpeakerSaid, text: str) -> str:
    name, role = " ".join(said.name.split())[:80], " ".join(said.role.split())[:80]
    return f"{name} ({role})" if role and role.casefold() in text.casefold() else name


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _hash(quote: str) -> str:
    return hashlib.sha256(quote.casefold().encode("utf-8", "replace")).hexdigest()[:24]
