"""Who says that the tour took their words for something else: it owns that, and goes by what they say now."""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.known_scenes import scenes
from coaching.practice.coach.wordings import holds

_OBJECTS = re.compile(
    r"\A\W*+(?:(?:what|huh|wait|sorry|uh+|um+|er+|hm+|oh|eh|hä|was|wie bitte|moment|äh+|qu[eé]|c[oó]mo"
    r"|perdona?)\b\W*+){0,3}"
    r"(?:no|nope|nah|nein|nee|nö)\b\W*+",
    re.IGNORECASE,
)
"""How an objection begins: “what? no, …”."""
_DENIES = re.compile(
    r"\A\W*+(?:(?:no|nein|nee)\W+)?(?:(?:but|well|please|aber|bitte|pero|por favor|es que|und|y)\W+)?"
    r"(?:(?:i(?:['’]m| am| was)|it['’]?s|it is|this is|that['’]?s|that is) not\b"
    r"(?! (?:ok|okay|fine|well|sure|going|doing|able|allowed|easy|good|right|fair))"
    r"|it isn['’]t\b(?! easy| fair| right)"
    r"|(?:it|that|this)(?:['’]s| is| was) (?:\w+ )?(?:past|ago|over)\b"
    r"|(?:ich (?:bin|such\w*|mein\w*|war)|es (?:ist|geht)|darum geht|das ist"
    r"|mir geht)\b[^.!?;,]{0,25}\b(?:nicht|kein\w*)\b"
    r"(?! (?:ok|okay|gut|sicher|einfach|leicht|fair))|(?:das|es) ist (?:\w+ )?(?:lange? her|vorbei)\b"
    r"|no (?:es|estoy|busco|soy|se trata|hablo)\b(?! (?:bien|segur|fácil|justo))|(?:eso )?(?:ya pasó"
    r"|hace mucho)\b"
    r"|(?:i (?:didn|haven)['’]t|ich hab(?:e)?|no me (?:he|han?))\b[^.!?;]{0,50}"
    r"\b(?:it was|only|just|nur|bloß|s[oó]lo)\b)",
    re.IGNORECASE,
)
"""How the sentence goes on that says what it isn't."""
_DENIES_ALONE = re.compile(
    r"\A\W*+(?:(?:but|well|aber|pero)\W+)?(?:(?:nobody|no one)(?: has)? died\b|i (?:didn['’]t"
    r"|never) (?:say|said|mention)"
    r"|(?:it|this|that)(?:['’]s| is) not about\b|niemand ist (?:gestorben|tot)\b|ich hab(?:e)? (?:nie"
    r"|nicht) gesagt\b"
    r"|(?:es geht nicht um|darum geht es nicht)\b|nadie (?:ha muerto|murió)\b|no (?:dije|he dicho"
    r"|se trata)\b)",
    re.IGNORECASE,
)
"""The same without an objection before it."""
_PART = re.compile(r"[^.!?;,–—]++[.!?;,–—]*+")
_MIN_LEFT = 2


def objected(conversation: Conversation) -> str | None:
    """Return what is left of words that object to how the last ones were met; None for any others."""
    newest = conversation.exchanges[-1]
    if newest.value or not _has_met(newest.question):
        return None
    begun = _OBJECTS.match(newest.answer)
    rest = newest.answer[begun.end() :] if begun else newest.answer
    denied = (begun and _DENIES.match(rest)) or _DENIES_ALONE.match(rest)
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
