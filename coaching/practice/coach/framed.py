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
_RECEIVED = re.compile(
    r"\b(?:be(?:ing)?|been|get(?:ting)?|got) (?:\w+ )?(?:hit|slapped|beaten|punched|kicked|choked"
    r"|attacked|hurt)\b"
    r"|\b(?:hits?|slap(?:s|ped)|punche[sd]|kick(?:s|ed)|beats?|chok(?:es|ed|ing)) (?:me|us)\b"
    r"|\b(?:geschlagen|verprügelt|geohrfeigt|getreten|gewürgt) (?:zu )?(?:werden|worden|wurde|werde)\b"
    r"|\b(?:schlägt|schlug|prügelt|tritt|würgt) (?:mich|uns)\b|\b(?:mich|uns) (?:\w+ )?(?:schlägt"
    r"|geschlagen|verprügelt)\b"
    r"|\b(?:me|nos) (?:peg|golpe|pat)\w*|\brecib\w+ (?:golpes|palizas?)\b",
    re.IGNORECASE,
)
"""Violence that somebody else did, or may do, to the person: nothing is asked about harming oneself."""
_PART = re.compile(r"[^.!?…;,\n]++")
_SENTENCE = re.compile(r"[^.!?…\n]++")
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
    framed = [frame + part for part in parts if not _is_plain(part) for frame in frames]
    is_long = len(plain.split()) > _MAX_WORDS
    said = [each.strip() for each in _SENTENCE.findall(plain)] if not is_long else []
    wholes = [[frame + each for frame in frames] for each in said if not _is_plain(each)]
    known = [[found for whole in each if (found := danger_in(whole))] for each in wholes]
    is_weighed_twice = any(
        len(each) == len(frames) and any(danger.level == "immediate" for danger in each) for each in known
    )
    joined = [] if is_long or _is_plain(plain) else [frame + plain for frame in frames]
    in_frames = [*framed, *joined, *(whole for each in wholes for whole in each)]
    named = [found for each in in_frames if (found := danger_in(each)) and not found.is_weighed]
    if named and all(each.topic == "violence" for each in named) and _RECEIVED.search(plain):
        return "harm"
    if is_weighed_twice or named:
        return "danger"
    if names_harm(code, plain) or any(is_about("means_harm", each) for each in (plain, *in_frames)):
        return "harm"
    return "dark" if any(known) else ""


def _is_plain(words: str) -> bool:
    """Return whether words need no frame: whole sentences, and everyday wishes."""
    return bool(_STATES.match(words) or _PLAIN.match(words))
