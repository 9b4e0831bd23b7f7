"""What an export holds besides what is imported, by name, so that nothing is lost without a word."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coaching.legacy.importers.sentences import gettext_noop

FileKind = Literal["file", "picture", "voice"]
LeftKind = Literal[
    "member",
    "file",
    "picture",
    "voice",
    "branch",
    "message",
    "summary",
    "instructions",
    "tool",
    "thinking",
    "source",
    "result",
    "field",
    "metadata",
]
"""`member` is a file of a ZIP; `branch` are messages of branches that weren't shown; `message` is one that
was hidden, or that has no ID or no known sender; `summary` is the other app's of a conversation;
`instructions` are a person's own for the other app, and its memories of them; `source` is a page that an
answer cites, `result` one that a search found; `field` is one that the reader doesn't know, `metadata` such a
one of messages."""

NOT_IN_EXPORT = gettext_noop("It isn’t in this export.")
MAX_NAMED = 100
"""Of each kind; more are only counted."""
MAX_NAME_CHARACTERS = 200
_JOINERS = "\u200c\u200d"
"""Parts of words and of emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """Something that wasn't imported; `where` is its conversation, empty where that says nothing.

    `why` is a sentence, empty where the kind says it all.
    """

    kind: LeftKind
    name: str
    where: str = ""
    count: int = 1
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreLeftBehind:
    """How many more of a kind there were than are named."""

    kind: LeftKind
    count: int


@dataclass(slots=True)
class Leftovers:
    """Collects what was left behind, the same name once."""

    _named: dict[LeftKind, Counter[tuple[str, str, str]]] = field(default_factory=dict)
    _more: Counter[LeftKind] = field(default_factory=Counter)

    def add(self, left: LeftBehind) -> None:
        named = self._named.setdefault(left.kind, Counter())
        key = (_short(left.name), _short(left.where), left.why)
        if key in named or len(named) < MAX_NAMED:
            named[key] += left.count
        else:
            self._more[left.kind] += left.count

    def add_more(self, more: MoreLeftBehind) -> None:
        self._more[more.kind] += more.count

    def all(self) -> Iterator[LeftBehind | MoreLeftBehind]:
        """Yield everything once, with its numbers."""
        for kind, named in self._named.items():
            for (name, where, why), count in named.items():
                yield LeftBehind(kind=kind, name=name, where=where, count=count, why=why)
        for kind, count in self._more.items():
            yield MoreLeftBehind(kind=kind, count=count)

    def by_kind(self) -> Mapping[str, Mapping[str, Any]]:
        """Return it as it is stored and printed: by kind `count` and `named`."""
        return {
            kind: {
                "count": sum(named.values()) + self._more[kind],
                "named": [
                    {"name": name, "where": where, "count": count, "why": why}
                    for (name, where, why), count in named.items()
                ],
            }
            for kind, named in self._named.items()
        }


def printable(text: str) -> str:
    """Return a text in one line, without characters that would steer a terminal."""
    line = " ".join(text.split())
    return "".join(each if each.isprintable() or each in _JOINERS else "\ufffd" for each in line)


def _short(text: str) -> str:
    return printable(text[: 2 * MAX_NAME_CHARACTERS])[:MAX_NAME_CHARACTERS]
