"""How a language writes dates and amounts, for texts whose own ones leave it open. Pure.

Small words tell the language. English says nothing of the order of dates, and Spanish nothing of the decimal
mark: their countries differ.
"""

import re
from collections.abc import Mapping
from typing import Literal

_WORD = re.compile(r"[^\W\d_]++")
_SMALL_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the and of to is for you your with this that by on are we our from be as it in at an a",
        "de": "der die das und ist fur wir sie nicht den dem mit auf bitte ihre ihr zu bis von am im es",
        "es": "el los las que para con y por una del su se usted como al la en de no es",
        "fr": "le les des est pour vous et une du votre nous dans avec la en de au sur que ne",
        "pt": "os as que para com uma nao do da em e por seu sua ao se de no na um",
        "it": "il di che per della e la non una le con del si da alla entro vi suo in gli",
        "nl": "het een van voor wij de en is niet dat op uw met te zijn bij u in aan",
        "pl": "do jest sie nie dla w na z prosimy oraz przez od dnia i o za po ze",
        "sv": "och att som for det en ar du inte till av med pa vi den om ett i",
        "da": "og at som for det en er du ikke til af med pa vi den om et i",
        "tr": "ve bir icin bu ile olarak de da olan kadar size sayin tarihli gore",
        "ru": "и в на не что по с для от до вы мы за к или это вас",
        "uk": "і в на не що та з для від до ви ми за або це вас у",
    }.items()
}
_CLEARLY = 2
"""So many times as often must other languages' words stand as English ones, in texts with both."""
_MIN_WORDS = 4


def _count(folded_text: str) -> Mapping[str, int]:
    words = _WORD.findall(folded_text)
    return {language: sum(word in small for word in words) for language, small in _SMALL_WORDS.items()}


def is_day_first(folded_text: str) -> bool:
    """Say whether a text is clearly in a language that writes the day first."""
    counted = dict(_count(folded_text))
    english = counted.pop("en")
    most = max(counted.values())
    return most >= _MIN_WORDS and most > _CLEARLY * english


def decimal_mark(folded_text: str) -> Literal[".", ","] | None:
    """Return the decimal mark of a text's language, if that is clear."""
    counted = _count(folded_text)
    most = max(counted.values())
    likely = [language for language, count in counted.items() if 2 * count > most]
    if most < _MIN_WORDS or "es" in likely or ("en" in likely and len(likely) > 1):
        return None
    return "." if likely == ["en"] else ","
