"""Names of files and attributes for people: no paths, no names made for programs."""

import re
from collections.abc import Iterable, Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.tables import DOMAINS, part_within_sentence

_MADE_FOR_PROGRAMS = re.compile(r"[a-z]_[a-z]|\.md\b|`")


def files_in_words(paths: Iterable[str]) -> list[str]:
    """Return files' names for people, each once; many pages of the life map as one."""
    split = [path.removesuffix(".md").rpartition("/") for path in dict.fromkeys(paths)]
    names = texts.names()
    parts = [name for folder, _, name in split if folder == "life-map" and name in DOMAINS]
    named = [names.get(folder) or names.get(name) for folder, _, name in split if name not in DOMAINS]
    pages = [names["page"].format(name=part_within_sentence(name)) for name in parts]
    return [*filter(None, named), *(pages if len(parts) < 3 else [names["pages"].format(count=len(parts))])]


def clip(text: str, limit: int) -> str:
    """Return text of at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: `a, b and c`."""
    return f"{', '.join(words[:-1])} {texts.said('and')} {words[-1]}" if len(words) > 1 else "".join(words)


def missing_in_words(item: str) -> str:
    """Return a name for something that a completion reports as missing."""
    attribute, of, file = item.partition(" (")[0].removeprefix("domain ").partition(" of the ")
    names, plain = texts.names(), attribute.partition(" with ")[0]
    words = names.get(plain, plain.replace("-", " "))
    return names["of"].format(attribute=words, file=names.get(file, file.replace("-", " "))) if of else words


def reason_in_words(text: str) -> str:
    """Return a refusal as a sentence that quotes it; empty if it has names made for programs."""
    return "" if _MADE_FOR_PROGRAMS.search(text) else texts.said("reason", words=" ".join(text.split())[:200])
