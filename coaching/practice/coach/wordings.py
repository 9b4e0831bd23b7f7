"""Which of several wordings is said: one that wasn't said yet, and no question right after another."""

import re
from collections.abc import Mapping, Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.reading import has_just_asked, is_asking, wants_no_questions
from coaching.practice.coach.texts import Language, language

_KNOWN = re.compile(r"^last session\s*:\s*(?!none|never|no\b|-)\S", re.IGNORECASE | re.MULTILINE)
_SCRIPT = re.compile(r"\b(?:script|Skript|guion)", re.IGNORECASE)
_ENDS = ".!?…"
_MAX_ASKED: Mapping[Language, int] = {"en": 3, "de": 3, "es": 3}
"""So often in a row something is asked."""
_FEW_WORDS: Mapping[Language, int] = {"en": 8, "de": 0, "es": 0}
"""So few words don't answer a question so fully that another one may follow."""
_SINCE = re.compile(
    r"(?:how (?:fresh|long)|since when|is that new|when is it|by when"
    r"|seit wann|ist das neu|wie (?:lange|frisch)|wann ist es so weit"
    r"|¿hace (?:mucho|cuánto)|¿desde cuándo|¿es (?:algo )?nuevo|¿eso es nuevo|¿cuándo es)[^.!?…]{0,80}\?\Z",
    re.IGNORECASE,
)
"""Questions that ask when something is or was, or since when it is so."""
_DATED = re.compile(
    r"\b(?:yesterday|tomorrow|last (?:night|week|month|year)|ago|since"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|gestern|vorgestern|seit"
    r"|letzte[nrs]? (?:nacht|woche|monat|jahr)|vor \w+ (?:tag\w*|woche\w*|monat\w*|jahr\w*)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|(?:über)?morgen|heute|ayer|hoy|mañana|anteayer|anoche"
    r"|(?:semana|mes|año) pasad[oa]|hace|desde|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b",
    re.IGNORECASE,
)
"""Words that say when."""


def choose(conversation: Conversation, *pools: str) -> str:
    """Return a wording that wasn't used yet, else the one that was used longest ago."""
    known = [each for pool in pools for each in texts.answers(pool)]
    return unsaid(conversation, known) or min(_as_asked(conversation, known), key=conversation.spoken.rfind)


def filled(conversation: Conversation, pool: str, words: str) -> str:
    """Return a wording with words of theirs in it, the first that wasn't used yet."""
    known = texts.answers(pool)
    new = [each for each in known if each.partition("}")[2] not in conversation.spoken]
    return (new or known)[0].format(words=words)


def unsaid(conversation: Conversation, known: Sequence[str]) -> str:
    """Return the first wording that wasn't used yet; nothing if all were."""
    wordings = _as_asked(conversation, known)
    new = (each for each in wordings if (without_question(each) or each) not in conversation.spoken)
    return next(new, "")


def _as_asked(conversation: Conversation, known: Sequence[str]) -> Sequence[str]:
    """Return wordings: without their questions if one would be too many, unwanted or answered already."""
    has_asked = wants_no_questions(conversation) or _is_pressed(conversation)
    is_dated = bool(_DATED.search(conversation.exchanges[-1].answer))
    mute = (has_asked or (is_dated and bool(_SINCE.search(each))) for each in known)
    pairs = zip(known, mute, strict=True)
    return list(filter(None, (without_question(each) if is_mute else each for each, is_mute in pairs)))


def has_asked_often(conversation: Conversation) -> bool:
    """Return whether something was asked as often in a row as may be."""
    most = _MAX_ASKED[language()]
    asked = [each.question.rstrip().endswith("?") for each in conversation.exchanges[-most:]]
    return len(asked) == most and all(asked)


def _is_pressed(conversation: Conversation) -> bool:
    """Return whether another question would be one too many; who asks something may be asked back."""
    words = conversation.exchanges[-1].answer
    is_told = len(words.split()) > _FEW_WORDS[language()] and not has_asked_often(conversation)
    return has_just_asked(conversation) and not (is_asking(words) or is_told)


def without_question(wording: str) -> str:
    """Return a wording without the question at its end; nothing if it only asks."""
    if not wording.endswith("?"):
        return wording
    return wording[: 1 + max(wording.rfind(end, 0, -1) for end in _ENDS)].strip()


def introduce(told: str) -> str:
    """Return first words with who is speaking, unless they say it already."""
    return told if _SCRIPT.search(told) else f"{told}\n\n{texts.said('introduced')}"


def introduction(conversation: Conversation) -> str:
    """Return what the tour says of itself at the beginning of a conversation."""
    is_known = _KNOWN.search(conversation.section("session_context"))
    return texts.said("hello_again" if is_known else "introduction")


def holds(said: str, wordings: Sequence[str]) -> bool:
    """Return whether something said has one of the wordings."""
    return any(each in said for each in wordings)
