"""Help lines as values, including the shipped ones (`help_lines.yaml`). Pure, without database."""

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
# Ten times as fast, where PyYAML was built with libyaml: each process reads the lines before its first page.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A help line. `note` follows its name, `text` says how to text or chat; empty fields don't exist."""

    kind: Kind
    name: str
    note: str = ""
    phone: str = ""
    text: str = ""
    url: str = ""
    hours: str = ""
    language: str = ""

    @property
    def title(self) -> str:
        """The name with its note, in English."""
        return f"{self.name}, {self.note}" if self.note else self.name

    @property
    def dialled(self) -> str:
        return _NOT_DIALLED.sub("", self.phone)

    @property
    def site(self) -> str:
        return self.url.partition("://")[2].removeprefix("www.").partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedLine:
    """A shipped line of a country; `key` never changes."""

    key: str
    country: str
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The lines for somebody in a country; the code is `ANYWHERE` if it is unknown."""

    country: str
    lines: Sequence[Line]

    @property
    def country_name(self) -> str:
        return COUNTRY_NAMES.get(self.country, "")

    @property
    def emergency(self) -> Sequence[Line]:
        return [line for line in self.lines if line.kind == "emergency"]

    @property
    def others(self) -> Sequence[Line]:
        return [line for line in self.lines if line.kind != "emergency"]


@lru_cache(maxsize=1)
def shipped_lines() -> Sequence[ShippedLine]:
    """Return the shipped lines, in order."""
    text = Path(__file__).with_name("help_lines.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader
    return [
        ShippedLine(key=row.pop("key"), country=row.pop("country"), line=Line(**row))
        for row in map(dict, rows)
    ]


def offer_of(lines: Iterable[tuple[str, Line]], *, country: str, topic: Topic) -> Offer:
    """Select a country's lines, the topic's first; the international ones if it has none."""
    known = list(lines)
    own = [line for code, line in known if code == country]
    if not own or country == ANYWHERE:
        country, own = ANYWHERE, [line for code, line in known if code == ANYWHERE]
    return Offer(country=country, lines=sorted(own, key=lambda line: _ORDER[topic].index(line.kind)))


def shipped_offer(*, country: str = ANYWHERE, topic: Topic = "life") -> Offer:
    """Return the offer when the database isn't available."""
    return offer_of(((row.country, row.line) for row in shipped_lines()), country=country, topic=topic)
