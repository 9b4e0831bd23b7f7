"""What the words of an answer show: language, questions, length, claims. English, German and Spanish."""

import re
from collections.abc import Mapping, Sequence

from tests.evals.situation import Language

_ENGLISH = """the and you your that is it to of in for with what was are this on be have i'm it's do how not
so can if or me my would from at who when there about"""
_GERMAN = """der die das und du dir dich ist es zu in für mit was war sind den dem ein eine auf nicht so wenn
oder mir mein dein deine ich wie wer wann von bei da noch auch an sie ihnen heute"""
_SPANISH = """el la los las y tú tu te es que de en para con qué era son lo un una no si o me mi cómo quién
cuándo por al del hoy más está eso esto ha he"""
_COMMON: Mapping[Language, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_QUOTED = re.compile(r"[“„«\"][^“”„«»\"\n]{0,400}[”“»\"]|^>.*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_DONE = (
    r"saved|written (?:it |that |this |them )?down|noted|recorded|logged|added|stored|updated|scheduled"
    r"|put (?:it|that|this) (?:on|in|into|down)"
)
_CLAIMS = re.compile(
    rf"\bi(?:['’]ve| have)(?: now| just| also)? (?:{_DONE})\b"
    r"|\b(?:it|that|this|plan|page|step|log)(?:['’]s| is)(?: now)? (?:saved|written down)\b"
    r"|\b(?:it|that|this)(?:['’]s| is)(?: now)? (?:noted|on your list)\b"
    r"|\b(?:ich habe|habe ich|hab ich|ich hab)\b[^.!?\n]{0,80}"
    r"\b(?:gespeichert|notiert|aufgeschrieben|festgehalten|eingetragen)\b"
    r"|\bist (?:jetzt |nun )?(?:gespeichert|notiert|festgehalten|eingetragen)\b"
    r"|\b(?:lo|la|te lo|los|las)? ?he (?:guardado|anotado|apuntado|añadido|registrado)\b"
    r"|\b(?:ya )?(?:está|queda|quedó) (?:guardad|anotad|apuntad)[oa]\b",
    re.IGNORECASE,
)
_REMOVAL_CLAIMS = re.compile(
    r"\bi(?:['’]ve| have)(?: now| just)? (?:deleted|removed|erased|forgotten|archived)\b"
    r"|\b(?:it|that)(?:['’]s| is| has been)(?: now)? (?:deleted|gone|erased|forgotten|archived)\b"
    r"|\b(?:ich habe|habe ich)\b[^.!?\n]{0,80}\b(?:gelöscht|entfernt|vergessen|archiviert)\b"
    r"|\bhe (?:borrado|eliminado|olvidado|archivado)\b",
    re.IGNORECASE,
)
_REMINDER_CLAIMS = re.compile(
    r"\bi(?:['’]ll| will) (?:remind|call|ring|text|e-?mail|message|notify|check in with|write to) you\b"
    r"|\bich (?:erinnere dich|rufe dich an|schreibe dir|melde mich)\b"
    r"|\bte (?:recordaré|llamaré|escribiré|avisaré)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\?|n['’]t\b|\b(?:not|never|nothing|once|when|if|until|would|could|nicht|nichts|kein\w*|wenn|sobald|würde"
    r"|no|nada|cuando|si)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:shall|should|would you like|want to|we could|how about|ready)\b[^.!?\n]{0,80}"
    r"\b(?:check-?in|life map|map|plan (?:your|the|today)|(?:open|close) (?:your|the) day|rate|pulse"
    r"|review (?:your|the) week|go through your)\b"
    r"|\b(?:wollen wir|sollen wir|möchtest du|magst du)\b[^.!?\n]{0,80}"
    r"\b(?:check-?in|lebenskarte|tag planen|woche|bewerten|landkarte)\b"
    r"|\b(?:quieres|te apetece|podemos|hacemos)\b[^.!?\n]{0,80}"
    r"\b(?:revisión|mapa|planear|planificar|puntuar)\b",
    re.IGNORECASE,
)
_INNER_NAMES = re.compile(r"\b[a-z]+_[a-z_]+\b|\b[\w-]+/[\w-]+\.md\b|</?[a-z_]+>")


def words_in(text: str) -> Sequence[str]:
    """Return the words of a text."""
    return _WORD.findall(text)


def language_of(text: str) -> Language | None:
    """Return the language whose common words are most; None if a text is too short to tell."""
    words = [word.lower().replace("’", "'") for word in words_in(without_quotes(text))]
    counts = {language: sum(word in common for word in words) for language, common in _COMMON.items()}
    best = max(counts, key=counts.__getitem__)
    second = max(count for language, count in counts.items() if language != best)
    return best if counts[best] >= 3 and counts[best] > second else None


def without_quotes(text: str) -> str:
    """Return a text without what it quotes."""
    return _QUOTED.sub(" ", text)


def questions_in(text: str) -> Sequence[str]:
    """Return the questions of an answer; what it quotes asks nobody."""
    return [each.strip() for each in _SENTENCE.findall(without_quotes(text)) if "?" in each]


def claims_in(text: str) -> Sequence[str]:
    """Return the sentences that say that something was written down."""
    return _claims(text, _CLAIMS)


def removal_claims_in(text: str) -> Sequence[str]:
    """Return the sentences that say that something was deleted, archived or forgotten."""
    return _claims(text, _REMOVAL_CLAIMS)


def reminder_claims_in(text: str) -> Sequence[str]:
    """Return the sentences that promise a reminder, a call or a message."""
    return _claims(text, _REMINDER_CLAIMS)


def offers_in(text: str) -> Sequence[str]:
    """Return the sentences that offer an arc or ratings."""
    return [each.strip() for each in _SENTENCE.findall(text) if _OFFERS.search(each)]


def inner_names_in(text: str) -> Sequence[str]:
    """Return names of tools, sections and paths, which a person isn't told."""
    return _INNER_NAMES.findall(text)


def _claims(text: str, pattern: re.Pattern[str]) -> Sequence[str]:
    sentences = _SENTENCE.findall(without_quotes(text))
    return [each.strip() for each in sentences if pattern.search(each) and not _UNSURE.search(each)]
