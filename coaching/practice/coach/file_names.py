"""Names of files and attributes for people: no paths, no names made for programs."""

import re
from collections.abc import Iterable, Sequence

_NAMES = {
    "_overview": "the overview of your map", "current": "your life plan", "weekly": "the plan of your week",
    "context": "my notes about you", "patterns": "your patterns", "captures": "a note",
    "check-ins": "your check-in", "daily-logs": "the log of your day", "day-plans": "the plan of your day",
    "domains_touched": "the parts of life", "mood_signal": "your mood", "energy": "your energy",
}  # fmt: skip
_MADE_FOR_PROGRAMS = re.compile(r"[a-z]_[a-z]|\.md\b|`")


def files_in_words(paths: Iterable[str]) -> list[str]:
    """Return files' names for people, each once; many pages of the life map as one."""
    split = [path.removesuffix(".md").rpartition("/") for path in dict.fromkeys(paths)]
    parts = [name for folder, _, name in split if folder == "life-map" and name not in _NAMES]
    named = [_NAMES.get(folder) or _NAMES.get(name) for folder, _, name in split]
    pages = [f"your {name} page" for name in parts]
    return [*filter(None, named), *(pages if len(parts) < 3 else [f"{len(parts)} pages of your life map"])]


def clip(text: str, limit: int) -> str:
    """Return text of at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: `a, b and c`."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def missing_in_words(item: str) -> str:
    """Return a name for something that a completion reports as missing."""
    attribute, of, file = item.partition(" (")[0].removeprefix("domain ").partition(" of the ")
    words = _NAMES.get(attribute, attribute.partition(" with ")[0].replace("-", " "))
    return f"{words}{of.replace('of', 'in')}{file.replace('-', ' ')}"


def reason_in_words(text: str) -> str:
    """Return a refusal as a sentence that quotes it; empty if it has names made for programs."""
    return "" if _MADE_FOR_PROGRAMS.search(text) else f"The message was: “{' '.join(text.split())[:200]}”"
