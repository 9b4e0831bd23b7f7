"""Help lines as values, and those that Sage ships with (`help_lines.yaml`): they need no database. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from coaching.safety.countries import ANYWHERE, COUNTRY_NAMES
from coaching.safety.phrases import Topic

Kind = Literal["emergency", "crisis", "violence"]

_ORDER: Mapping[Topic, Sequence[Kind]] = {
    "life": ("emergency", "crisis", "violence"),
    "violence": ("emergency", "violence", "crisis"),
}
_NOT_DIALLED = re.compile(r"[^0-9+*#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that helps. `text` says how to text or chat; empty is what there isn't."""

    kind: Kind
    name: str
    phone: str = ""
    text: str = ""
    url: str = ""
    hours: str = ""
    language: str = ""

    @property
    def dialled(self) -> str:
        """The number as a phone takes it."""
        return _NOT_DIALLED.sub("", self.phone)

    @property
    def site(self) -> str:
        """The address as people read it."""
        return self.url.partition("://")[2].removeprefix("www.").partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedLine:
    """A line as it is shipped, for one country; `key` stays the same for ever."""

    key: str
    country: str
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The lines for somebody in a country; the code is `ANYWHERE` where the country isn't known."""

    country: str
    lines: Sequence[Line]

    @property
    def country_name(self) -> str:
        """The country in words; empty for anywhere."""
        return COUNTRY_NAMES.get(self.country, "")

    @property
    def emergency(self) -> Sequence[Line]:
        """The numbers for a danger that is there now."""
        return [line for line in self.lines if line.kind == "emergency"]

    @property
    def others(self) -> Sequence[Line]:
        """All others."""
        return [line for line in self.lines if line.kind != "emergency"]


@lru_cache(maxsize=1)
def shipped_lines() -> Sequence[ShippedLine]:
    """Return the lines that Sage ships with, in their order."""
    rows: list[dict[str, Any]] = yaml.safe_load(
        Path(__file__).with_name("help_lines.yaml").read_text(encoding="utf-8")
    )
    return [
        ShippedLine(key=row.pop("key"), country=row.pop("country"), line=Line(**row))
        for row in map(dict, rows)
    ]


def offer_of(lines: Iterable[tuple[str, Line]], *, country: str, topic: Topic) -> Offer:
    """Return what is offered in a country of all lines (country and line), the topic's own lines first.

    A country without a line of its own gets those for anywhere, and so does one that isn't known.
    """
    known = list(lines)
    own = [line for code, line in known if code == country]
    if not own or country == ANYWHERE:
        country, own = ANYWHERE, [line for code, line in known if code == ANYWHERE]
    return Offer(country=country, lines=sorted(own, key=lambda line: _ORDER[topic].index(line.kind)))


def shipped_offer(*, country: str = ANYWHERE, topic: Topic = "life") -> Offer:
    """Return what is offered while the database can't be asked."""
    return offer_of(((row.country, row.line) for row in shipped_lines()), country=country, topic=topic)
