"""Colloquial, regional and hasty spellings, as the forms that the patterns know.

"I hob nix gsagt", "podés", "xq" and words without their accents are recognised by it. What is quoted, or
written into a file, stays as it was typed. The forms are in `colloquial.toml`.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from coaching.practice.coach.spoken import KNOWN_BEGINNINGS, spoken_language
from coaching.practice.coach.texts import Language, language, read_table

_WORD = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(r"(?<![aeouqAEOUQ])([aouAOU])e(?!ll)(?=[b-df-hj-np-tv-zßB-DF-HJ-NP-TV-Z])")
"""An umlaut as two letters: "fuer", not "neue" or "aktuell"."""
_UMLAUTS = str.maketrans("aouAOU", "äöüÄÖÜ")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_ASKS = re.compile(
    r"(?:(?<=\A)|(?<=[.,;!?¿] )|(?<=\by )|(?<=\bpero )|(?<=¿))(que|como|cual|quien|donde|cuando|cuanto)"
    r"(?= (?:hago|haces|hacer|puedo|puedes|es|eres|son|opinas|piensas|crees|harías|dirías|dices|le|les|se"
    r"|lo|te parece|tal|pasa|quieres|cuesta|está|estás|vas|voy|empiezo|funciona|me (?:aconsejas|recomiendas))"
    r"\b)",
    re.IGNORECASE,
)
"""A word of asking without its accent, at the beginning of a clause."""
_ACCENTED = {
    "que": "qué", "como": "cómo", "cual": "cuál", "quien": "quién", "donde": "dónde", "cuando": "cuándo",
    "cuanto": "cuánto",
}  # fmt: skip


@cache
def _forms(code: Language) -> Mapping[str, str]:
    table = read_table("colloquial").get(code, "")
    pairs = (each.strip().partition(" ") for line in table.splitlines() for each in line.split("|"))
    return {form: known for form, _, known in pairs if known}


def standard(words: str) -> str:
    """Return words in the forms that the patterns know."""
    return _standard(words, spoken_language(words) or language())


@lru_cache(maxsize=KNOWN_BEGINNINGS)
def _standard(words: str, code: Language) -> str:
    forms = _forms(code)
    words = _DRAWN_OUT.sub(r"\1", words) if forms else words
    if code == "de":
        words = _SPLIT.sub(lambda found: found[1].translate(_UMLAUTS), words)
    if forms:
        words = _WORD.sub(lambda found: forms.get(found[0].lower(), found[0]), words)
    if code == "es":
        words = _ASKS.sub(lambda found: _ACCENTED[found[1].lower()], words)
    return words
