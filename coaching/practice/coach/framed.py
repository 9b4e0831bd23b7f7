"""What an answer to one of the thread's questions weighs, read in the frame of its question.

"Ending it" or "the balcony" says little alone. As what somebody wants, or has in their hands, it may be
danger.
"""

import re
from collections.abc import Mapping
from typing import Literal

from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.requested import is_end, names_harm
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import Language, language, once_per_text
from coaching.safety.card import danger_in

Weight = Literal["", "dark", "harm", "danger"]

_FRAMES: Mapping[Language, tuple[str, str]] = {
    "en": ("I will", "I want"),
    "de": ("Ich werde", "Ich will"),
    "es": ("Voy a", "Quiero"),
}
_STATES = re.compile(
    r"\A\W*(?:(?:well|but|and|so|yes|no|ok|honestly|maybe|perhaps|anyway|thanks|then"
    r"|na|aber|und|ja|nein|vielleicht|danke|dann|pues|pero|y|sí|quizás?|gracias|bueno)\W+){0,3}"
    r"(?:i|i['’](?:m|ve|d|ll)|it|it['’]s|he|she|we|they|you|there|ich|es|er|wir|du|habe?|bin"
    r"|yo|me|he|ha|tengo|quiero|voy|estoy|está|él|ella|no (?:puedo|lo|sé|se|me|tengo|quiero))\b",
    re.IGNORECASE,
)
"""How whole sentences begin, which need no frame."""
_PLAIN = re.compile(
    r"\A\W*(?:(?:mehr|weniger|more|less|fewer|más|menos) \w+(?: \w+)?|jump(?:ing)? rope|seil ?springen)\W*\Z",
    re.IGNORECASE,
)
"""Everyday wishes that the rules of danger weigh by chance."""
_PART = re.compile(r"[^.!?…;,\n]++")
_MAX_PARTS, _MAX_CHARACTERS, _MAX_WORDS, _FEW_WORDS = 8, 700, 12, 5


@once_per_text
def weight_in_frame(words: str) -> Weight:
    """Return what words weigh as an answer: danger, harm, too dark to go on from, or nothing.

    An answer that only weighs much in one frame is dark: nothing is asked of danger, and the thread ends.
    """
    code = spoken_language(words) or language()
    plain = words.strip()[:_MAX_CHARACTERS]
    if plain.endswith("?") and len(plain.split()) > _FEW_WORDS:
        return ""
    if is_end(code, plain):
        return "danger"
    parts = [part.strip() for part in _PART.findall(plain)[:_MAX_PARTS]]
    frames = [f"{frame} " for frame in _FRAMES[code]]
    framed = [
        frame + part for part in parts if not (_STATES.match(part) or _PLAIN.match(part)) for frame in frames
    ]
    is_plain = bool(_STATES.match(plain) or _PLAIN.match(plain)) or len(plain.split()) > _MAX_WORDS
    wholes = [] if is_plain else [frame + plain for frame in frames]
    known = [danger for whole in wholes if (danger := danger_in(whole))]
    is_weighed_twice = len(known) == len(frames) and any(each.level == "immediate" for each in known)
    if is_weighed_twice or any(
        (found := danger_in(each)) and not found.is_weighed for each in framed + wholes
    ):
        return "danger"
    if names_harm(code, plain) or any(is_about("means_harm", each) for each in (plain, *wholes)):
        return "harm"
    return "dark" if known else ""
