"""The key facts that a document's own text bears out, each once, the most important first. No database."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from coaching.library.evidence import MAX_QUOTE, Source
from coaching.library.values import meaning_of

MAX_FACTS = 40
"""As many of a whole text are kept."""
MAX_OF_PART = 60
"""As many of one answer are examined."""
MAX_NAME, MAX_VALUE = 120, 300

Row = dict[str, Any]


class FactSaid(BaseModel):
    """A fact as a model gives it. `main`: somebody would open the document for it."""

    model_config = ConfigDict(extra="ignore")

    name: str
    value: str
    quote: str = ""
    main: bool = False


class FactsSaid(BaseModel):
    """The facts of a part of a text, as a model gives them."""

    facts: list[FactSaid] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFacts:
    """The facts as rows of a document, and how many others the text doesn't bear out."""

    rows: Sequence[Row]
    dropped: int


def check_facts(said: Iterable[FactSaid], source: Source) -> CheckedFacts:
    """Return the facts that a text bears out. Of those with one name and value, the first is kept."""
    kept: list[tuple[bool, Row]] = []
    places: dict[Hashable, int] = {}
    dropped = 0
    for fact in said:
        row = fact_row(fact.name, fact.value, fact.quote, source)
        if row is None:
            dropped += 1
            continue
        meant = meaning_of(row["value"], order=source.order, mark=source.mark)
        place = places.setdefault((row["name"].casefold(), meant), len(kept))
        if place == len(kept):
            kept.append((fact.main, row))
        elif fact.main:
            kept[place] = (True, kept[place][1])
    kept.sort(key=lambda each: not each[0])
    return CheckedFacts(rows=[row for _, row in kept[:MAX_FACTS]], dropped=dropped)


def fact_row(name: str, value: str, quote: str, source: Source) -> Row | None:
    """Return a fact with quote and page as they are in a text; None if the text doesn't bear it out."""
    said = on_one_line(value, MAX_VALUE)
    passage = source.bears_out(said, quote) if len(quote) <= MAX_QUOTE else None
    named = on_one_line(name, MAX_NAME)
    if passage is None or not named:
        return None
    row = {"name": named, "value": said, "quote": passage.quote}
    return row if passage.page is None else row | {"page": passage.page}


def on_one_line(text: str, most: int) -> str:
    return " ".join(text.replace("\x00", "").split())[:most]
