"""Names of the sources that an answer cites, whatever an export's lists of them look like."""

from collections.abc import Iterator, Mapping
from typing import Any

from coaching.legacy.importers.left import MAX_NAME_CHARACTERS, LeftBehind
from coaching.legacy.importers.things import text_of

_NAMES = ("title", "url", "file_name", "name")
"""Fields with the name of a source, the best first."""
_BETWEEN = " – "


def cited_in(cited: object, where: str, *, found: object = None) -> Iterator[LeftBehind]:
    """Yield the sources that a message cites, and other results that its searches have `found`, each once."""
    seen = set[str]()
    for kind, value in (("source", cited), ("result", found)):
        for key, name in _names_in(value):
            if key not in seen:
                seen.add(key)
                yield LeftBehind(kind="source" if kind == "source" else "result", name=name, where=where)


def _names_in(value: object) -> Iterator[tuple[str, str]]:
    """Yield the sources in lists of them, each with what tells it from others; they may lie deeper."""
    rest: list[Any] = [value]
    while rest:
        found = rest.pop()
        if isinstance(found, Mapping):
            name = next(filter(str.strip, (text_of(found.get(key)) for key in _NAMES)), "")
            url = text_of(found.get("url")).strip()
            if name:
                short = name[: max(0, MAX_NAME_CHARACTERS - len(url) - len(_BETWEEN))]
                yield url or name, f"{short}{_BETWEEN}{url}" if url not in ("", name) and short else name
            rest += reversed([*found.values()])
        elif isinstance(found, list):
            rest += reversed(found)
