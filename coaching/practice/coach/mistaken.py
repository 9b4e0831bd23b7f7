"""Who says that the tour took their words for something else: it owns that, and goes by what they say now."""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.known_scenes import scenes
from coaching.practice.coach.wordings import holds

_OBJECTS = re.compile(
    r"\A\W*+(?:(?:what|huh|wait|sorry|uh+|um+|er+|hm+|oh|eh|hä|was|wie bitte|moment|äh+|qu[eé]|c[oó]mo|perdona?)\b\W*+){0,3}"
    r"(?:no|nope|nah|nein|nee|nö)\b\W*+(?:(?:no|nein)\b\W*+)?",
    re.IGNORECASE,
)
"""How an objection begins: “what? no, …”."""
_DENIES = re.compile(
    r"\A\W*+(?:(?:but|well|aber|pero|es|und|y)\W+)?(?:(?:i(?:['’]m| am| was| have| did)?|it['’]?s?|it is|this is|that['’]?s|nobody|no one)\b"
    r"[^.!?;,]{0,12}\b(?:not|n['’]t|died|said)\b|(?:i (?:didn|don|haven|wasn)['’]t|it isn['’]t|nobody|no one)\b"
    r"|(?:ich|es|das|mir|mich|darum)\b[^.!?;,]{0,40}\b(?:nicht|kein\w*|niemand\w*)\b|niemand\b"
    r"|(?:no (?:es|estoy|busco|soy|he|se trata|ha|hablo|dije)|nadie)\b)",
    re.IGNORECASE,
)
"""How the sentence goes on that says what it isn't."""
_PART = re.compile(r"[^.!?;,–—]++[.!?;,–—]*+")
_MIN_LEFT = 2


def objected(conversation: Conversation) -> str | None:
    """Return what is left of words that object to how the last ones were met; None for any others."""
    newest = conversation.exchanges[-1]
    if newest.value or not _has_met(newest.question):
        return None
    begun = _OBJECTS.match(newest.answer)
    rest = newest.answer[begun.end() :] if begun else newest.answer
    denied = _DENIES.match(rest)
    if not denied:
        return None
    parts = [each.strip(" ,;–—") for each in _PART.findall(rest)][1:]
    left = " ".join(parts)
    return left if len(left.split()) >= _MIN_LEFT else ""


def _has_met(said: str) -> bool:
    """Return whether an answer met a situation or a feeling, or mourned."""
    known = [each for code in texts.LANGUAGES for each in scenes(code) if not each.is_background]
    is_met = any(holds(said, [*each.says, *each.more]) for each in known)
    return is_met or holds(said, texts.reactions("grief"))
