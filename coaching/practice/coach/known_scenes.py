"""The situations, feelings and things that words can name: `scenes.<language>.toml`.

A name on the list has to be plain: to be taken for something else is worse than a general answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from coaching.practice.coach.texts import LANGUAGES, Language, read_table
from coaching.safety.readable import plain_letters

_PEOPLE = frozenset({"child", "partner", "parents", "sibling", "grandparent", "friend", "pet"})
_THINGS = frozenset({"work", "study", "home", "pastime", "travel", "weather", "food", "birthday"})
"""What stands in any story: a situation that was told a moment ago counts for more, and people for more than
things.
"""
FEELINGS = frozenset(
    {"worry", "anger", "guilt", "lonely", "hopeless", "sad", "letdown", "tired", "bored", "joy"}
)
GRAVE = frozenset(
    {
        "pet_dying", "death", "dying", "drinks", "sober", "shock", "fired", "insulted", "bullied",
        "unfaithful", "betrayed", "breakup", "apart", "pregnant", "ill", "guilt", "hopeless", "patient_died",
        "parents_divorce",
    }
)  # fmt: skip
"""Situations after which nothing is asked at once."""
_OWN = frozenset(
    {
        "retire", "fired", "left_job", "exam", "interview", "raise", "quit", "failed", "habit", "body",
        "tired", "worry", "anger", "sleep", "overload", "putoff", "money", "lost", "bored", "decide",
        "letdown", "guilt", "ashamed", "saying_no", "lonely", "sad", "joy",
    }
)  # fmt: skip
"""Situations that are met where they are the person's own, and not another's."""
_OF_ANOTHER = re.compile(
    r"\b(?:(?:mein|unser|dein|ihr|sein)\w{0,2} (?:\w+ )?(?:chef|mann|frau|freund|kolleg|partner|sohn|tochter"
    r"|kind|mutter|mama|vater|papa|eltern|bruder|schwester|oma|opa|tante|onkel|nachbar|ex\b|\w*arzt)"
    r"|(?:mi|mis|su|sus|nuestr[oa]s?) (?:\w+ )?(?:jef|marido|mujer|espos|novi|amig|compa|pareja|hij|madre"
    r"|mama|padre|papa|herman|abuel|ti[oa]\b|vecin|viej|ex\b)"
    r"|(?:frau|mann|freundin|freund|chefin|chef|mama|papa|mutter|vater|schwester|bruder|kollegin|kollege)"
    r" (?:ist|war|hat|wird|findet)\b"
    r"|(?:er|ella|ellos|ellas) (?!und|y)\w|(?:der|die) \w*(?:arzt|doktor)\w*|(?:el|la) (?:medic|doctor)\w+)"
)
_OF_SELF = re.compile(r"\b(?:ich|mich|mir|wir|uns|yo|me|nos|conmigo|tengo|estoy|soy|llevo)\b")
_CLAUSE_END = re.compile(r"[.!?;,\n]|\b(?:und|aber|weil|y|pero|porque|and|but)\b")
_EARLY_WORDS = (3, 5)
"""So many words from the beginning a message says what it is about: things, people."""
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A situation. `says` answers who brings it, `more` what follows, `asks` who asks what to do.

    `is_quiet`: it asks for no cheer, offer or step.
    """

    name: str
    heard: re.Pattern[str]
    beside: re.Pattern[str]
    unless: re.Pattern[str]
    says: Sequence[str]
    more: Sequence[str] = field(default=())
    asks: Sequence[str] = field(default=())
    is_glad: bool = False
    is_quiet: bool = False

    @property
    def weight(self) -> int:
        lighter = (_THINGS, _PEOPLE, FEELINGS)
        return next((weight for weight, names in enumerate(lighter) if self.name in names), len(lighter))

    @property
    def is_grave(self) -> bool:
        """Whether no general word is taken up after it."""
        return self.is_quiet or self.name in GRAVE

    @property
    def is_background(self) -> bool:
        return self.weight < 2

    def stands_in(self, letters: str) -> bool:
        """Return whether words, in plain letters, name it."""
        named = self.heard.search(letters)
        if named is None or not self.beside.search(letters) or self.unless.search(letters):
            return False
        before = _CLAUSE_END.split(letters[: named.end()])[-1]
        return not (self.name in _OWN and _OF_ANOTHER.search(before) and not _OF_SELF.search(before))

    def is_subject_of(self, words: str) -> bool:
        """Return whether somebody or something everyday stands where words say what they are about."""
        letters = plain_letters(words).strip()
        found = self.heard.search(letters)
        return found is None or len(letters[: found.start()].split()) <= _EARLY_WORDS[self.weight]


@cache
def scenes(language: Language) -> Sequence[Scene]:
    """Return a language's situations: the first that fits counts."""
    return [
        Scene(
            name=name,
            heard=_pattern(given["heard"]),
            beside=_pattern(given.get("beside", "")),
            unless=_pattern(given["unless"]) if "unless" in given else _NEVER,
            says=given["says"],
            more=given.get("more", ()),
            asks=given.get("asks", ()),
            is_glad=given.get("glad", False),
            is_quiet=given.get("quiet", False),
        )
        for name, given in read_table(f"scenes.{language}").items()
    ]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def patterns() -> Sequence[re.Pattern[str]]:
    """Return all patterns of all languages."""
    found = [scene for code in LANGUAGES for scene in scenes(code)]
    return [each for scene in found for each in (scene.heard, scene.beside, scene.unless)]
