"""Names of files and attributes for people: no paths, no programmatic names."""

import re
from collections.abc import Iterable

_NAMES = {
    "_overview": "the overview of your map",
    "current": "your life plan",
    "weekly": "the plan of your week",
    "context": "my notes about you",
    "patterns": "your patterns",
}
_FOLDERS = {
    "captures": "a capture",
    "check-ins": "your check-in",
    "daily-logs": "the log of your day",
    "day-plans": "the plan of your day",
    "reflections": "a question to reflect on",
}
_ATTRIBUTES = {
    "domains_touched": "the parts of life",
    "mood_signal": "your mood",
    "energy": "your energy",
}
_MADE_FOR_PROGRAMS = re.compile(r"[a-z]_[a-z]|\.md\b|`")


def file_in_words(path: str) -> str:
    """Return a file's name for people."""
    folder, _, name = path.removesuffix(".md").rpartition("/")
    if folder == "life-map" and name not in _NAMES:
        return f"your {name.replace('-', ' ')} page"
    return _FOLDERS.get(folder) or _NAMES.get(name) or name.replace("-", " ")


def files_in_words(paths: Iterable[str]) -> list[str]:
    """Return files' names for people, each once."""
    return list(dict.fromkeys(map(file_in_words, paths)))


def missing_in_words(item: str) -> str:
    """Return a name for something that a completion reports as missing."""
    attribute, of, file = item.partition(" (")[0].removeprefix("domain ").partition(" of the ")
    words = _ATTRIBUTES.get(attribute, attribute.partition(" with ")[0].replace("-", " "))
    return f"{words}{of.replace('of', 'in')}{file.replace('-', ' ')}"


def reason_in_words(text: str) -> str:
    """Return a refusal that may be quoted: empty if it contains programmatic names."""
    return "" if _MADE_FOR_PROGRAMS.search(text) else " ".join(text.split())
