"""What a person's words are: an answer to what was asked, or one of the many things that aren't.

Only an answer or a correction ever reaches a file, so when in doubt words are no answer. Danger is judged by
the product's own rules. The patterns are in `hearing.<language>.toml`: words are heard in their language, in
the one that is spoken if theirs doesn't show, and in English.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.mashed import is_mash
from coaching.practice.coach.requested import requested
from coaching.practice.coach.spoken import PATTERNS, language_of, spoken_language
from coaching.practice.coach.tables import BY_LANGUAGE, Slot
from coaching.practice.coach.texts import ENGLISH, LANGUAGES, Language, language, once_per_text, read_table
from coaching.safety.card import danger_in
from coaching.safety.danger import Danger
from coaching.safety.grief import is_grief

Kind = Literal[
    "answer", "later", "correction", "question", "request", "remark", "refusal", "foreign", "nonsense",
    "empty", "long", "many", "short", "choose", "danger", "leave", "pause", "menu", "recall", "hello",
    "thanks", "yes", "no", "continue", "choice", "pulse", "check", "wish", "grief", "aside", "declines",
    "heavy", "rest", "answered",
]  # fmt: skip

HEARD: Mapping[Language, Mapping[str, Mapping[str, Any]]] = {
    code: read_table(f"hearing.{code}") for code in LANGUAGES
}
"""What the tour hears words by, in each language."""

_LIGHT = frozenset(PATTERNS["common"]["light"].split())
_DETERMINED = re.compile(
    r"(?:my|the|his|her|our|mein\w{0,2}|d(?:er|ie|as|en|em)|mis?|el|las?|los)\s", re.IGNORECASE
)

MAX_WORDS_CHARACTERS = 1_000
MAX_LINE_CHARACTERS = 160
MAX_ITEMS = 3
ADDED = "+"
"""What stands for what is replaced where something is added to a list."""
_SHORT_WORD, _SWAPPED_WORDS = 3, 4
_COMMAND_WORDS = 3
"""So few words are heard in English, too, whatever is spoken."""


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


def _pattern(text: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_WHOLE: Mapping[Language, Mapping[Any, re.Pattern[str]]] = {
    code: {
        kind: _pattern(rf"\A[\W_]*+(?:{text})[\W_]*+\Z", heard["parts"])
        for kind, text in heard["whole"].items()
    }
    for code, heard in HEARD.items()
}
_WITHIN: Mapping[Language, Mapping[str, re.Pattern[str]]] = {
    code: {name: _pattern(text, heard["parts"]) for name, text in heard["within"].items()}
    for code, heard in HEARD.items()
}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def hear(text: str, slots: Sequence[Slot] = (), *, last: str = "", last_words: str = "") -> Heard:
    """Return what a text is. `slots` can be corrected, `last` is the one filled last, with its words."""
    if alone := _heard_alone(text):
        return alone
    plain = text.replace("’", "'").strip()
    return _correction(plain, slots, last, last_words) or Heard(kind=_told(plain))


@once_per_text
def _heard_alone(text: str) -> Heard | None:
    """Return what a text is, whatever it may correct; None if that decides."""
    plain = text.replace("’", "'").strip()
    if weight := _weight_of(text):
        return Heard(kind=weight)
    if not _WORD.search(plain):
        return Heard(kind="empty")
    if len(plain) > MAX_WORDS_CHARACTERS:
        return Heard(kind="long")
    if (foreign := language_of(plain)) and foreign not in LANGUAGES:
        return Heard(kind="foreign", language=foreign)
    if found := _whole(plain):
        return Heard(kind=found)
    if is_about("refusal", plain):
        return Heard(kind="refusal")
    if recalled := _recalled(plain):
        return recalled
    if wish := wish_in(plain):
        return Heard(kind="wish", words=wish)
    if is_about("question", plain):
        return Heard(kind="question")
    return None


def _recalled(plain: str) -> Heard | None:
    """Return a search that a text asks for, or a question about what was said; None for other texts."""
    if wanted := requested("search", plain):
        return Heard(kind="recall", words=wanted)
    found = search("recall", plain)
    return Heard(kind="recall", words=found[1].strip(" ?!.,\"'")) if found else None


@once_per_text
def danger_heard(text: str) -> Danger | None:
    """Return the danger in words, but none in a refusal to rate that only weighs like one.

    The refusal must be the whole message, with a verb of rating and what is rated: "no numbers" may stand
    beside the gravest words, so it exempts nothing. Neither does a name weigh: what follows it is all read.
    """
    found = danger_in(text)
    if found is None or not found.is_weighed:
        return found
    if _is_plain_worry(text, found):
        return None
    introduced = search("introduces", text)
    is_of_name = introduced is not None and danger_in(text[introduced.end() :]) is None
    return None if is_of_name or search("only_no_ratings", text) else found


def _is_plain_worry(text: str, found: Danger) -> bool:
    """Return whether words weigh because of a comfort or a worry in them, and name nothing dark."""
    plain = text.replace("’", "'")
    rests = [_WITHIN[code]["comfort"].sub(" ", plain) for code in _languages_for(plain)]
    is_comfort = any(rest != plain and danger_in(rest) is None for rest in rests)
    is_plain = found.level == "concern" and (is_about("plain_worry", text) or is_about("stops_walk", text))
    return (is_comfort or is_plain) and not is_about("dark", text)


def _weight_of(text: str) -> Kind | None:
    if danger_heard(text):
        return "danger"
    return "grief" if is_grief(text) else None


def wish_in(plain: str) -> str:
    """Return the name of the walk that a text asks for, or nothing."""
    if len(plain) > 200 or is_about("no_wish", plain):
        return ""
    walks = [walk for code in _languages_for(plain) for walk in BY_LANGUAGE[code].values()]
    return next((walk.name for walk in walks if walk.asked_for.search(plain)), "")


@once_per_text
def is_about(name: str, plain: str) -> bool:
    """Return whether a text has one of the patterns by name."""
    return any(search(name, each) for each in {plain, standard(plain)})


def search(name: str, text: str) -> re.Match[str] | None:
    """Return where a text has one of the patterns by name."""
    plain = text.replace("’", "'")
    found = (_WITHIN[code][name].search(plain) for code in _languages_for(plain))
    return next((match for match in found if match), None)


@once_per_text
def _languages_for(plain: str) -> Sequence[Language]:
    own = spoken_language(plain) or language()
    is_command = len(plain.split()) <= _COMMAND_WORDS  # in more words, "am" and "was" are other languages'
    return list(dict.fromkeys((own, ENGLISH))) if is_command else [own]


def _whole(plain: str) -> Any:
    wholes = [pair for code in _languages_for(plain) for pair in _WHOLE[code].items()]
    said = dict.fromkeys((plain, standard(plain)))
    return next((kind for each in said for kind, whole in wholes if whole.search(each)), None)


@once_per_text
def _told(plain: str) -> Kind:
    if is_about("remark", plain):
        return "remark"
    if is_about("request", plain):
        return "request"
    return "nonsense" if is_mash(plain) else "answer"


def _correction(plain: str, slots: Sequence[Slot], last: str, last_words: str) -> Heard | None:
    is_list = any(slot.name == last and slot.kind == "items" for slot in slots)
    if meant := search("meant", plain):
        return _swapped(meant[1], last_words, is_list=is_list) or Heard(
            kind="correction", words=_tidy(meant[1]), about=last
        )
    for name in ("change", "should"):
        if (found := search(name, plain)) and (named := _named(" ".join(found.groups()), slots)):
            return named
    if swapped := _swapped(plain, last_words, is_list=is_list):
        return swapped
    if is_list and (added := search("adds", plain)):
        words = next(filter(None, added.groups()))
        return Heard(kind="correction", words=_tidy(words), about=last, old=ADDED)
    if last and len(plain) <= 80 and is_about("wrong", plain):
        named_slot = next((slot for slot in slots if _has_name(slot, plain)), None)
        return Heard(kind="correction", about=named_slot.name if named_slot else last)
    return None


def _swapped(plain: str, last_words: str, *, is_list: bool = False) -> Heard | None:
    """Return a correction of a part of the last answer: "not Priya but Petra", "Petra, not Priya"."""
    pairs = [
        found.groups()
        for found in [search(name, plain) for name in ("not_but", "not_this", "swaps")]
        if found
    ]
    pairs += [found.groups()[::-1] for found in [search("but_not", plain)] if found]
    if is_list and (dropped := search("drops", plain)):
        pairs.append((dropped[1], ""))
    for was, becomes in pairs:
        old = _tidy(was)
        if _names_said(old, last_words, is_list=is_list) and len(becomes.split()) <= _SWAPPED_WORDS:
            new = _tidy(becomes)
            if not (new and whole(new).search(last_words)):
                return Heard(kind="correction", words=new, old=old)
            if is_list:  # "call Ana, not mum", where both are on the list
                return Heard(kind="correction", old=old)
    return None


def _names_said(old: str, last_words: str, *, is_list: bool) -> bool:
    """Return whether words name a thing of the last answer: of a list, or a name, or "my sister"."""
    found = whole(old).search(last_words) if old else None
    words = {word.lower() for word in _WORD.findall(old)}
    if found is None or words & _LIGHT or not any(len(word) >= _SHORT_WORD for word in words):
        return False
    is_name = found.start() > 0 and found[0][0].isupper()
    is_all = found[0] == last_words.strip(" .!")
    return is_list or is_name or is_all or bool(_DETERMINED.match(old))


def whole(words: str) -> re.Pattern[str]:
    """Return the pattern that finds words, but not inside longer ones."""
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)


def _named(rest: str, slots: Sequence[Slot]) -> Heard | None:
    """Return a correction that begins with a slot's name: "intention to calm"."""
    for slot in slots:
        names = "|".join(map(re.escape, slot.names))
        ends = r"(?: page)?(?:\s+(?:to|into|as|say|in|auf|zu|a|por)\b|\s*[:=])?\s+(.+)"
        if found := re.match(rf"(?:{names}){ends}", rest, re.IGNORECASE | re.DOTALL):
            return Heard(kind="correction", words=_tidy(found[1]), about=slot.name)
    return None


def _has_name(slot: Slot, plain: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", plain, re.IGNORECASE) for name in slot.names)


def _tidy(words: str) -> str:
    return words.strip().strip("\"“”«»'.,;:").strip()


def items_in(text: str) -> tuple[str, ...]:
    """Return the items of a spoken list, each one line in the person's words."""
    code = _languages_for(text)[0]
    pieces = [piece for piece in _WITHIN[code]["list_end"].split(text) if piece.strip()]
    items: list[str] = []
    for piece in pieces:
        sides = re.split(r"(?<!\s)\s+(?:and|und|y)\s+", piece) if len(pieces) > 1 else []
        is_two = len(sides) == 2 and all(len(side.split()) > 1 for side in sides)
        items += sides if is_two else [piece]
    lines = [one_line(_WITHIN[code]["list_lead"].sub("", item, count=1) or item) for item in items]
    return tuple(dict.fromkeys(line for line in lines if line))


def one_line(text: str, limit: int = MAX_LINE_CHARACTERS) -> str:
    """Return text as one capitalised line without a final full stop."""
    line = " ".join(text.split()).strip(" .,;:-–“”«»\"'")
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return line[:1].upper() + line[1:]


def rating_in(text: str) -> int | None:
    """Return a rating that is clearly one: "2 out of 5", "3/5"."""
    found = re.search(
        r"(?<![\d.,/])([1-5])\s*(?:/|of|out of|von|de)\s*(?:5|five|fünf|cinco)\b(?![.,/:]?\d)", text
    )
    return int(found[1]) if found else None
