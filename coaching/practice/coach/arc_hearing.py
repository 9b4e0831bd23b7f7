"""What the coach recognises when an arc is requested, answered or left: wishes, numbers, lists, "later".

Plain patterns in English, as in `listening.py`; only what was said counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.practice.coach.listening import DOMAINS, domains_in, hear_intent, sentences_of
from coaching.practice.coach.quoting import sort_by_domain

_ANSWER_CHARACTERS = 120
_WISH = (
    r"(?:let'?s|let us|can we|could we|shall we|may we|i(?:'d| would) like|i want|i need|i'?m ready|ready|"
    r"please|time|start|begin|do|help me|can you|could you|ok(?:ay)?|yes)"
)
_ARC_WORDS = {
    "life_mapping": r"(?:map(?:ping)? (?:out )?(?:my|a|the) (?:whole )?life|life[- ]?map(?:ping)?\b|"
    r"map of my life)",
    "open_day": r"(?:(?:open|plan|start|begin)(?:ing)? (?:my|the|our|this|today'?s) (?:day|morning)\b|"
    r"plan (?:for )?today\b|"
    r"(?:my|a|the) day[- ]plan\b)",
    "close_day": r"(?:(?:close|end|finish|wrap up|review|look back on)(?:ing)? (?:my|the|our|this|today'?s) "
    r"(?:day|evening)\b|"
    r"(?:my|the|a|today'?s) (?:daily|evening|day'?s) log\b|look back on today\b|close today\b)",
    "weekly_checkin": r"(?:(?:weekly |my |the |a )check[- ]?in\b|(?:review|look (?:back )?(?:at|on)|close) "
    r"(?:my|the|this) week\b|"
    r"check in on (?:my|the|this) week\b|\A\W*check[- ]?in\W*\Z)",
}
_ARCS_WANTED = {
    arc: re.compile(rf"\b{_WISH}\b[^.!?]{{0,60}}?\b{words}|\A\W*{words}\W*\Z", re.IGNORECASE)
    for arc, words in _ARC_WORDS.items()
}
_ARC_HINTS = {
    "life_mapping": re.compile(
        r"\b(?:my whole life|all (?:areas|parts|sides) of my life|everything at once|the big picture|"
        r"(?:don'?t|do not) know where to (?:start|begin))\b",
        re.IGNORECASE,
    ),
    "open_day": re.compile(
        r"\bgood morning\b|\b(?:so much|a lot|too much|lots) (?:to do|on my plate) today\b|"
        r"\bahead of me today\b|\bmy day ahead\b",
        re.IGNORECASE,
    ),
    "close_day": re.compile(
        r"\b(?:what a day|it was a long day|long day today|before i go to (?:bed|sleep)|"
        r"the day is (?:over|done))\b",
        re.IGNORECASE,
    ),
    "weekly_checkin": re.compile(
        r"\b(?:what a week|(?:this|the) week is over|end of the week|long week)\b", re.IGNORECASE
    ),
}
_REFUSED = re.compile(
    r"\b(?:don'?t|do not|no|not|never|rather not|without|hate|skip|stop)\b[^.!?]{0,40}", re.IGNORECASE
)
_LEAVING = re.compile(
    r"\A\W*(?:please |ok(?:ay)?,? |no,? )?(?:(?:stop|quit|cancel|abort|end|leave)(?: (?:it|this|here|"
    r"now|the \w+(?:[- ]\w+)?|for (?:now|today)|please))*"
    r"|(?:let'?s|can we|could we|i(?:'d| would) (?:like|rather)(?: to)?|i want to) (?:stop|end (?:it|"
    r"this)|leave (?:it|this)|quit|cancel|drop (?:it|this))\b.{0,40}"
    r"|i (?:don'?t|do not) (?:want|feel like)(?: to)? (?:do(?:ing)? (?:it|this|that)|go(?:ing)? on|"
    r"continu(?:e|ing)|this)\b.{0,40})\W*\Z",
    re.IGNORECASE,
)
_HURRYING = re.compile(
    r"\A\W*(?:(?:please|just|ok(?:ay)?|no|yes|and)\b\W*)*(?:(?:save|write) (?:it|this|that|what (?:we|"
    r"you) have|as it is)(?: down)?(?: as it is)?|"
    r"finish(?: it| this)?(?: up)?|wrap (?:it |this )?up|that'?s (?:enough|all|it)(?: for (?:now|today))?|"
    r"let'?s finish(?: here| it| this)?|no more questions)(?: (?:please|now|then))*\W*\Z",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:later|skip(?: it| that| this)?|pass|not now|rather not|another time|don'?t want to (?:talk|"
    r"say))\b",
    re.IGNORECASE,
)
_SKIPPING = re.compile(
    r"[\W_]*(?:(?:well|hm+|oh|sorry|maybe|perhaps|rather|let'?s|we|can|i'?d|i'?ll|"
    r"say|both|all|do|do that|for)\b[\W_]*)*"
    r"(?:later|skip|pass|next|not (?:now|yet|really|today|sure)|rather not|another time|no idea|"
    r"no(?:pe)?|nah|none|dunno|idk|hard to say|it depends|i guess|whatever|maybe|hm+|"
    r"nothing(?: really| special| comes to mind)?|i (?:really )?(?:don'?t|do not|can'?t) (?:know|say|tell)|"
    r"i (?:don'?t|do not) want to (?:say|talk about (?:it|that)))?"
    r"(?:[\W_]+(?:it|this|that|these|them|both|yet|now|please|thanks|thank you|"
    r"really|at the moment|today|for now|to that))*[\W_]*",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:both|all|everything|either|same)\b", re.IGNORECASE)
_PLAIN_STATE = re.compile(
    r"(?:fine|good|ok(?:ay)?|great|alright|all right|not bad|so[- ]so|bad|well)\W*\Z", re.IGNORECASE
)
_STATUSES = (
    ("in_crisis", re.compile(r"\b(?:in (?:a )?crisis)\b", re.IGNORECASE)),
    ("needs_attention", re.compile(r"\bneeds? (?:some |more |my )?attention\b", re.IGNORECASE)),
    ("thriving", re.compile(r"\bthriving\b", re.IGNORECASE)),
    ("okay", re.compile(r"\b(?:okay|ok|so[- ]so|all right|alright)\b", re.IGNORECASE)),
    ("good", re.compile(r"\b(?:good|well|great|fine)\b", re.IGNORECASE)),
)
_NEGATED = re.compile(r"\b(?:not|no|never|hardly|isn'?t|aren'?t|wasn'?t|don'?t|doesn'?t)\b", re.IGNORECASE)
_RATING = re.compile(r"(?<![\d.,/])([1-5])(?:\s*(?:/|of|out of)\s*(?:5|five))?(?![\d:%]|[.,]\d|\s*\w)")
_LIST_END = re.compile(r"\s*(?:[\n;]|,(?:\s*(?:and|then)\b)?|(?<!\d)[.!?](?:\s|$)|\band then\b)\s*")
_CLAUSE_END = re.compile(r"[,;]|\bbut\b|\band\b")
_BLANKS = re.compile(r"[^\S\n]+")
_LIST_AND = re.compile(r"\s+and\s+")
_LEAD = re.compile(
    r"\A(?:(?:\W|\d+[.)])*)(?:(?:and|then|also|well|so|maybe|first|today)\b[ ,]*)*"
    r"(?:(?:i|we) (?:want|need|have|would like|'d like|must|should|plan|hope)(?: to)? |i'd like to |"
    r"i'll |to )?",
    re.IGNORECASE,
)


def arc_wanted(text: str) -> str:
    """Return the arc that the user asks for, or an empty string."""
    plain = _plain(text)
    if len(plain) > 200 or re.match(r"\W*(?:what|why|how|when|who|which)\b", plain, re.IGNORECASE):
        return ""
    for arc, pattern in _ARCS_WANTED.items():
        found = pattern.search(plain)
        if found and not _REFUSED.search(plain[: found.end()]):
            return arc
    return ""


def arc_hinted(text: str) -> str:
    """Return the arc that would fit the user's words, or an empty string."""
    plain = _plain(text)
    return next((arc for arc, pattern in _ARC_HINTS.items() if pattern.search(plain)), "")


def wants_to_leave(text: str) -> bool:
    """Return whether the user wants to leave the arc."""
    return len(text) <= _ANSWER_CHARACTERS and bool(_LEAVING.match(_plain(text)))


def wants_to_pause(text: str) -> bool:
    """Return whether the user has to go."""
    return hear_intent(text, was_offered=False) == "goodbye"


def is_hurrying(text: str) -> bool:
    """Return whether the user wants to skip the rest."""
    return len(text) <= _ANSWER_CHARACTERS and bool(_HURRYING.search(_plain(text)))


def is_skip(text: str) -> bool:
    """Return whether the words skip a question rather than answer it."""
    plain = _plain(text)
    return (len(plain) <= _ANSWER_CHARACTERS and bool(_SKIPPING.fullmatch(plain))) or (
        len(plain.split()) <= 6 and wants_to_pause(plain)
    )


def hear_list(text: str, limit: int) -> Sequence[str]:
    """Return the items of a list in prose, each one short line in the user's words."""
    pieces = [piece for piece in _LIST_END.split(_BLANKS.sub(" ", text)) if piece.strip()]
    items: list[str] = []
    for piece in pieces:
        sides = _LIST_AND.split(piece)
        is_two = len(pieces) > 1 and len(sides) == 2 and all(len(side.split()) > 1 for side in sides)
        items += sides if is_two else [piece]
    lines = [one_line(_LEAD.sub("", item, count=1) or item) for item in items]
    return list(dict.fromkeys(line for line in lines if line))[:limit]


def one_line(text: str, limit: int = 200) -> str:
    """Return text as one capitalised line, without a final full stop."""
    line = " ".join(text.split()).strip(" .,;:-–“”\"'")
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return line[:1].upper() + line[1:]


def hear_rating(words: Sequence[str]) -> int | None:
    """Return the rating from 1 to 5 given to a domain; the last one counts."""
    found = [number for sentence in words for number in _RATING.findall(sentence)]
    return int(found[-1]) if found else None


def hear_status(words: Sequence[str]) -> str:
    """Return the status that was named, or an empty string; nothing is inferred."""
    for sentence in reversed(words):
        for status, pattern in _STATUSES:
            found = pattern.search(sentence)
            if found and not _NEGATED.search(sentence[: found.start()]):
                return status
    return ""


@dataclass(frozen=True, slots=True)
class DomainsHeard:
    """What was said about which domain, and which were postponed."""

    told: Mapping[str, Sequence[str]]
    later: Sequence[str]


def hear_domains(text: str, asked: Sequence[str]) -> DomainsHeard:
    """Sort an answer by domain. `asked` are the domains in the question, in order.

    A sentence without a domain goes to the asked ones that have none yet.
    """
    if is_skip(text) and not domains_in(text):
        return DomainsHeard({}, list(asked))
    if asked and _is_for_all(text):
        return DomainsHeard({name: [one_line(text) + "."] for name in asked}, [])
    told: dict[str, list[str]] = {}
    later: list[str] = []
    current = ""
    for sentence in _parts_of(text):
        found, rest = sort_by_domain([[sentence]])
        for name, words in found.items():
            if all(map(_is_later, words)):
                later.append(name)
            else:
                told.setdefault(name, []).extend(words)
                current = name
        for clause in rest:
            waiting = [name for name in asked if name not in told and name not in later]
            if _is_later(clause):
                later += waiting
            elif owner := current or next(iter(waiting), "") or (next(reversed(told), "")):
                told.setdefault(owner, []).append(clause)
    return DomainsHeard({name: told[name] for name in DOMAINS if name in told}, later)


def _parts_of(text: str) -> Sequence[str]:
    """Return the sentences of an answer; one that postpones something is split into clauses."""
    return [
        clause
        for sentence in sentences_of(text)
        for clause in (_CLAUSE_END.split(sentence) if _LATER.search(sentence) else [sentence])
        if clause.strip()
    ]


def _is_for_all(text: str) -> bool:
    """Return whether a few words answer everything asked: "both fine"."""
    is_short = len(text.split()) < 8 and not domains_in(text)
    return bool(_PLAIN_STATE.match(text.strip())) or (is_short and bool(_BOTH.search(text)))


def _is_later(words: str) -> bool:
    return len(words.split()) <= 8 and bool(_LATER.search(words))


def _plain(text: str) -> str:
    return text.replace("’", "'").strip()
