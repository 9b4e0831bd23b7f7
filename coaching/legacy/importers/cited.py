"""Names of the sources that an answer cites, whatever an export's lists of them look like."""

from collections.abc import Iterator, Mapping
from typing import Any

from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import text_of

_NAMES = ("title", "url", "file_name", "name")
"""Fields with the name of a source, the best first."""


def cited_in(value: object, where: str) -> Iterator[LeftBehind]:
    """Yield the sources in a list of citations; they may lie deeper."""
    rest: list[Any] = [value]
    while rest:
        found = rest.pop()
        if isinstance(found, Mapping):
            name = next(filter(str.strip, (text_of(found.get(key)) for key in _NAMES)), "")
            if name:
                yield LeftBehind(kind="source", name=name, where=where)
            rest += reversed([*found.values()])
        elif isinstance(found, list):
            rest += reversed(found)
