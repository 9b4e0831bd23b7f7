"""What sentences ask the tour to do, however they are worded: sensed (`sense`), where no pattern says it.

Each sentence is weighed by itself. Of several requests the last counts, unless all are for steps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coaching.practice.coach.asking import is_asking
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.requested import SENTENCE, is_own, taken
from coaching.practice.coach.sense import REQUEST, features_of, sense

_CLAUSE = re.compile(r"[,;]\s+|\s(?:but|aber|pero)\s", re.IGNORECASE)
_QUOTED = re.compile("(?<!\\w)['‘\"“„«]([^'\"“”„«»‘’\n]{2,120})['’\"”“»](?!\\w)")
_AFTER_COLON = re.compile(r":\s+(\S[^\n]{1,200})\Z")
_POLITE = re.compile(
    r"(?<![\s,])[\s,]++(?:please|pls|plz|thanks|thank you|ta|cheers|ok(?:ay)?|for me|will you|would you|too"
    r"|as well|(?:put|add|note|write) (?:that|it)(?: in| down| on)?|schreib das auf|setz das drauf"
    r"|bitte (?:aufnehmen|aufschreiben|eintragen|merken|notieren|vermerken)"
    r"|ap[uú]ntalo|ponlo|bitte|danke|ja|mal|noch|auch|por favor|porfa|gracias|vale|también)\W*\Z",
    re.IGNORECASE,
)
_REFERRING = (
    "it that this them something anything one step reminder task todo list as down there "
    "es das ihn sie etwas was schritt punkt liste als rein dazu "
    "eso esto lo algo paso tarea recordatorio como ahí"
)
_REFERS = frozenset(_REFERRING.split())
"""Words that name no step by themselves."""
_SMALL = (
    "a an the to for of on in my another new next please me ein eine einen den die der das mein meine meinen "
    "meiner auf neuen nächsten bitte un una el la en mi otro nuevo próximo de para"
)
_LIGHT = frozenset(_SMALL.split())
_WORD = re.compile(r"\w+")
_THAT = re.compile(
    r"\b(?:que conste que|that(?! (?:time|day|night|one|year)\b)|que)\s+(\S.{3,300})\Z"
    r"|\b(da(?:ss|ß)\s+\S.{3,300})\Z",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT = re.compile(
    r"\b(?:about|regarding|with|über|von|zu|zum|zur|wegen|sobre|acerca de|de|del)\s+"
    r"(?:(?:the|my|our|das|die|den|der|dem|mein\w*|el|la|los|las|mi|mis|lo)\s)?(\S.{1,60}?)"
    r"(?=\s*(?:[?.!,;]|\Z|\b(?:gesagt|erzählt|geschrieben|verzellt|notiert|steht|war)\b))",
    re.IGNORECASE,
)
_MAX_AFTER = 10
_SHORT, _LONG = 200, 600
"""In characters: longer words may be copied, and in the longest a request is only told of."""
_KEPT = frozenset({"step", "fact", "list"})
_SURE, _SURE_OF_FEW, _FEW_WORDS = 0.85, 0.7, 8
"""So sure is a request that isn't said like one, and one in a few words."""
_DENIES = re.compile(
    r"\b(?:don['’]?t|do not|never|nothing|nobody|no one|(?:i )?wish|nicht|nichts|nie|niemand\w*"
    r"|kein\w*|no(?![,.:;])|nada|nadie|nunca"
    r"|ojalá)\b"
    r"(?! (?:let me )?(?:forget|vergess\w*|se me olvid\w+|olvid\w+)| (?:one|only|just|nur)\b)"
    r"|\b(?:her|his|their|ihre[rn]?|seine[rn]?) (?:to-?do )?list",
    re.IGNORECASE,
)
"""What makes of a request to keep something none, or another's."""
_NAMES_LIST = frozenset({"<list>", "<reminder>"})
_SAID = frozenset({"<imperative>", "<reminder>"})
"""What makes words sound like a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """What a sentence asks for, with the sentences around it. `is_led`: its words to a colon are left out."""

    topic: str
    said: str
    before: str = ""
    after: str = ""
    is_led: bool = False


def asked_for(words: str) -> Sequence[AskedFor]:
    """Return what the sentences of a message ask for; nothing for a message that surely asks nothing."""
    is_pasted = len(words) > _SHORT and is_about("pasted", words)
    if is_pasted or len(words) > _LONG or not is_own(words):
        return []
    sentences = [each.strip() for each in SENTENCE.findall(words) if each.strip()]
    around = ["", *sentences, ""]
    found = [
        _without_lead(AskedFor(topic=topic, said=said, before=around[at], after=around[at + 2]))
        for at, said in enumerate(sentences)
        if (topic := topic_of(said))
    ]
    if not found and len(sentences) > 1 and (topic := _sure_topic(words)):
        return [AskedFor(topic=topic, said=words)]
    if all(each.topic == "step" for each in found):
        return found
    whole = _sure_topic(words)
    return [each for each in found if each.topic == whole][-1:] or found[-1:]


def asks_beside(words: str) -> str:
    """Return what words ask for inside an arc, whose answers are often said like steps; or nothing."""
    asked = asked_for(words)
    topic = asked[-1].topic if asked else ""
    return topic if topic != "step" or names_list(asked[-1].said) else ""


def names_list(said: str) -> bool:
    """Return whether words name the list, a step or a reminder."""
    return bool(_NAMES_LIST & features_of(said))


def _without_lead(asked: AskedFor) -> AskedFor:
    """Return a request without the words before its colon, if the rest asks for the same by itself."""
    led = _AFTER_COLON.search(asked.said)
    is_whole = led is not None and _sure_topic(led[1]) == asked.topic
    return replace(asked, said=led[1], is_led=True) if led and is_whole else asked


def topic_of(sentence: str) -> str:
    """Return what a sentence or one of its clauses surely asks for, or nothing."""
    clauses = [each for each in _CLAUSE.split(sentence) if len(each.split()) > 1]
    return next(filter(None, map(_sure_topic, (sentence, *reversed(clauses)))), "")


def _sure_topic(words: str) -> str:
    sensed = sense(standard(words))
    if sensed.act != REQUEST or (sensed.topic in _KEPT and _DENIES.search(words)):
        return ""
    is_said = is_asking(words) or bool(_SAID & features_of(words))
    sure = _SURE if len(words.split()) > _FEW_WORDS else _SURE_OF_FEW
    return sensed.topic if is_said or sensed.share >= sure else ""


def step_words(asked: AskedFor, without_days: str) -> str:
    """Return the words of the step that a sentence asks for; nothing where they can't be told.

    They are quoted, follow a colon, stand between a verb and the list, or are all of the next sentence.
    """
    quoted = _QUOTED.search(asked.said)
    named = quoted or _AFTER_COLON.search(without_days)
    words = named[1] if named else taken(without_days) or (without_days if asked.is_led else "")
    own = without_politeness(words)
    if _names(own):
        return own
    is_referring = bool(_REFERS.intersection(_WORD.findall(asked.said.lower())))
    is_next = (
        asked.after and "?" not in asked.after and len(asked.after.split()) <= _MAX_AFTER and is_referring
    )
    return without_politeness(asked.after) if is_next else ""


def without_politeness(words: str) -> str:
    """Return words without a please or thanks at their end."""
    bare = words.strip(" .!?,;:-–")
    while (found := _POLITE.search(bare)) and found.start():
        bare = bare[: found.start()].strip(" .!?,;:-–")
    return bare


def _names(words: str) -> bool:
    own = set(_WORD.findall(words.lower())) - _LIGHT
    return any(not each.isdigit() for each in own - _REFERS)


def is_plain_fact(asked: AskedFor) -> bool:
    """Return whether a sentence says which words are to be kept: after a colon or a that."""
    return asked.topic == "fact" and bool(_AFTER_COLON.search(asked.said) or _THAT.search(asked.said))


def fact_words(said: str) -> str:
    """Return what somebody wants to have noted: what follows a colon or a that, else all of it."""
    named = _AFTER_COLON.search(said) or _THAT.search(said)
    found = next(filter(None, named.groups()), "") if named else ""
    return without_politeness(found) if found else said.strip()


def query_in(said: str) -> str:
    """Return what somebody wants to find of what they said; nothing where that can't be told."""
    quoted = _QUOTED.search(said)
    found = quoted or _ABOUT.search(said)
    return without_politeness(found[1]) if found else ""
