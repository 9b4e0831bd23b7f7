"""What a person's words are: an answer to what was asked, or one of the many things that aren't.

Only an answer or a correction ever reaches a file, so when in doubt words are no answer. Danger is judged by
the product's own rules. The patterns are in `hearing.toml`.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coaching.practice.coach.tables import WALKS, Slot
from coaching.safety.card import danger_in
from coaching.safety.grief import is_grief

Kind = Literal[
    "answer", "later", "correction", "question", "request", "remark", "refusal", "foreign", "nonsense",
    "empty", "long", "many", "short", "choose", "danger", "leave", "pause", "menu", "recall", "hello",
    "thanks", "yes", "no", "continue", "choice", "pulse", "check", "wish", "grief",
]  # fmt: skip

PATTERNS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("hearing.toml").read_text(encoding="utf-8")
)
"""What the tour hears words by: `hearing.toml`."""
OTHER = "other"

_WORDS = {code: frozenset(words.split()) for code, words in PATTERNS["languages"].items()}
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

MAX_WORDS_CHARACTERS = 1_000
MAX_LINE_CHARACTERS = 160
MAX_ITEMS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a text is. `words` are a correction's or a search's or a walk's name, `about` is a correction's
    slot, `old` what its words replace.
    """

    kind: Kind
    words: str = ""
    about: str = ""
    old: str = ""
    language: str = ""


_PARTS: dict[str, str] = PATTERNS["parts"]


def _pattern(text: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        text = text.replace(f"{{{name}}}", part)
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_WHOLE: dict[Any, re.Pattern[str]] = {
    kind: _pattern(rf"\A[\W_]*+(?:{text})[\W_]*+\Z") for kind, text in PATTERNS["whole"].items()
}
_WITHIN: dict[str, re.Pattern[str]] = {name: _pattern(text) for name, text in PATTERNS["within"].items()}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RARE_PAIR = re.compile(r"(?=sd|df|fg|hj|jk|kl|dk|kj|jh|qw|tz|zx|xc|cv|vb|lk|fd|sj|dj|lj|gf|hg|jf|kf|vc|xz)")


def hear(text: str, slots: Sequence[Slot] = (), *, last: str = "", last_words: str = "") -> Heard:
    """Return what a text is. `slots` can be corrected, `last` is the one filled last, with its words."""
    plain = text.replace("’", "'").strip()
    if weight := _weight_of(text):
        return Heard(kind=weight)
    if not _WORD.search(plain):
        return Heard(kind="empty")
    if len(plain) > MAX_WORDS_CHARACTERS:
        return Heard(kind="long")
    if language := language_of(plain):
        return Heard(kind="foreign", language=language)
    if found := next((kind for kind, whole in _WHOLE.items() if whole.search(plain)), None):
        return Heard(kind=found)
    if is_about("refusal", plain):
        return Heard(kind="refusal")
    if recalled := _WITHIN["recall"].search(plain):
        return Heard(kind="recall", words=recalled[1].strip(" ?!.,\"'"))
    if wish := wish_in(plain):
        return Heard(kind="wish", words=wish)
    if is_about("question", plain):
        return Heard(kind="question")
    return _correction(plain, slots, last, last_words) or Heard(kind=_told(plain))


def _weight_of(text: str) -> Kind | None:
    if danger_in(text):
        return "danger"
    return "grief" if is_grief(text) else None


def wish_in(plain: str) -> str:
    """Return the name of the walk that a text asks for, or nothing."""
    if len(plain) > 200 or is_about("no_wish", plain):
        return ""
    return next((walk.name for walk in WALKS.values() if walk.asked_for.search(plain)), "")


def is_about(name: str, plain: str) -> bool:
    """Return whether a text has one of the patterns by name."""
    return bool(_WITHIN[name].search(plain.replace("’", "'")))


def _told(plain: str) -> Kind:
    if is_about("remark", plain):
        return "remark"
    if is_about("request", plain):
        return "request"
    return "nonsense" if _is_mash(plain) else "answer"


def _correction(plain: str, slots: Sequence[Slot], last: str, last_words: str) -> Heard | None:
    if meant := _WITHIN["meant"].search(plain):
        return _swapped(meant[1], last_words) or Heard(kind="correction", words=_tidy(meant[1]), about=last)
    for pattern in (_WITHIN["change"], _WITHIN["should"]):
        if (found := pattern.search(plain)) and (named := _named(" ".join(found.groups()), slots)):
            return named
    if swapped := _swapped(plain, last_words):
        return swapped
    if last and len(plain) <= 80 and is_about("wrong", plain):
        named_slot = next((slot for slot in slots if _has_name(slot, plain)), None)
        return Heard(kind="correction", about=named_slot.name if named_slot else last)
    return None


def _swapped(plain: str, last_words: str) -> Heard | None:
    """Return a correction of a part of the last answer: "not Priya but Petra", "Petra, not Priya"."""
    pairs = [found.groups() for found in [_WITHIN["not_but"].search(plain)] if found]
    pairs += [found.groups()[::-1] for found in [_WITHIN["but_not"].search(plain)] if found]
    for was, becomes in pairs:
        if (old := _tidy(was)) and old.lower() in last_words.lower():
            return Heard(kind="correction", words=_tidy(becomes), old=old)
    return None


def _named(rest: str, slots: Sequence[Slot]) -> Heard | None:
    """Return a correction that begins with a slot's name: "intention to calm"."""
    for slot in slots:
        names = "|".join(map(re.escape, slot.names))
        ends = r"(?: page)?(?:\s+(?:to|into|as|say)\b|\s*[:=])?\s+(.+)"
        if found := re.match(rf"(?:{names}){ends}", rest, re.IGNORECASE | re.DOTALL):
            return Heard(kind="correction", words=_tidy(found[1]), about=slot.name)
    return None


def _has_name(slot: Slot, plain: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", plain, re.IGNORECASE) for name in slot.names)


def _tidy(words: str) -> str:
    return words.strip().strip("\"“”'.,;:").strip()


def _is_mash(plain: str) -> bool:
    """Return whether most words look like keys pressed at random."""
    words = [word.lower() for word in _WORD.findall(plain) if len(word) > 3 and not word.isdigit()]
    return bool(words) and 2 * sum(map(_is_odd, words)) >= len(words)


def _is_odd(word: str) -> bool:
    is_spoken = re.search(r"[aeiouy]|[^a-z]", word) and not re.search(r"(.)\1{3}", word)
    return not is_spoken or len(_RARE_PAIR.findall(word)) > 1


def language_of(text: str) -> str:
    """Return a text's language, `OTHER` for an unknown one, nothing for English or too few words."""
    words = [word.lower().replace("’", "'") for word in _TOKEN.findall(text[:2_000])]
    letters = "".join(words)
    if not letters:
        return ""
    if 2 * sum("LATIN" not in unicodedata.name(letter, "LATIN") for letter in letters) > len(letters):
        return OTHER
    known = {code: sum(word in these for word in words) for code, these in _WORDS.items()}
    english = known.pop("english")
    if any(mark in text for mark in "¿¡"):
        known["es"] += 2
    code = max(known, key=known.__getitem__)
    if known[code] > english and (known[code] > 1 or len(words) <= 3):
        return code
    accented = sum(not word.isascii() for word in words)
    return OTHER if len(words) > 3 and 2 * accented > len(words) > 2 * english else ""


def items_in(text: str) -> tuple[str, ...]:
    """Return the items of a spoken list, each one line in the person's words."""
    pieces = [piece for piece in _WITHIN["list_end"].split(text) if piece.strip()]
    items: list[str] = []
    for piece in pieces:
        sides = re.split(r"(?<!\s)\s+and\s+", piece) if len(pieces) > 1 else []
        is_two = len(sides) == 2 and all(len(side.split()) > 1 for side in sides)
        items += sides if is_two else [piece]
    lines = [one_line(_WITHIN["list_lead"].sub("", item, count=1) or item) for item in items]
    return tuple(dict.fromkeys(line for line in lines if line))


def one_line(text: str, limit: int = MAX_LINE_CHARACTERS) -> str:
    """Return text as one capitalised line without a final full stop."""
    line = " ".join(text.split()).strip(" .,;:-–“”\"'")
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return line[:1].upper() + line[1:]


def rating_in(text: str) -> int | None:
    """Return a rating that is clearly one: "2 out of 5", "3/5"."""
    found = re.search(r"(?<![\d.,/])([1-5])\s*(?:/|of|out of)\s*(?:5|five)\b(?![.,/:]?\d)", text)
    return int(found[1]) if found else None
