"""Situations, feelings and things that words plainly name: `scenes.<language>.toml`.

Where a situation is named, what is said names it, too; what follows counts for it as long as it names none of
its own. A name on the list has to be plain: to be taken for something else is worse than a general answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.texts import LANGUAGES, Language, read_table
from coaching.safety.readable import plain_letters

_BACKGROUND = frozenset(
    {
        "work", "partner", "parents", "sibling", "grandparent", "friend", "pet", "study", "home", "pastime",
        "travel", "weather", "food", "child",
    }
)  # fmt: skip
"""People and things that stand in any story: a situation that was told a moment ago counts for more."""
_LASTS = 4
"""So many messages later a situation still counts."""
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
    def is_background(self) -> bool:
        return self.name in _BACKGROUND

    def stands_in(self, letters: str) -> bool:
        """Return whether words, in plain letters, name it."""
        is_named = self.heard.search(letters) and self.beside.search(letters)
        return bool(is_named) and not self.unless.search(letters)


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


def scene_in(words: str) -> Scene | None:
    """Return the situation that words name."""
    letters = plain_letters(words)
    return next((each for each in scenes(texts.language()) if each.stands_in(letters)), None)


def names_situation(words: str) -> bool:
    """Return whether words name a situation or a feeling, more than people and things."""
    scene = scene_in(words)
    return scene is not None and not scene.is_background


def scene_before(conversation: Conversation) -> Scene | None:
    """Return the situation that was told a moment ago, the background only where nothing else was."""
    told = [each.answer for each in conversation.exchanges[-1 - _LASTS : -1] if not each.value]
    found = [scene for scene in map(scene_in, reversed(told)) if scene]
    return next((scene for scene in found if not scene.is_background), found[0] if found else None)


def wordings_for(
    conversation: Conversation, *, is_asking: bool = False, is_hard: bool = False
) -> Sequence[str]:
    """Return what there is to say to the newest words in their situation, best first.

    `is_hard`: they tell of something hard, so nothing glad is said.
    """
    new, before = scene_in(conversation.exchanges[-1].answer), scene_before(conversation)
    goes_on = before and (new is None or (new.is_background and not before.is_background))
    scene = before if goes_on else new
    if scene is None or (scene.is_glad and is_hard) or (before and before.is_glad and scene.name == "sad"):
        return ()  # tears of joy, for one, are no matter for comfort
    if is_asking:
        return scene.asks
    if goes_on:
        return scene.more
    is_told = before is not None and before.name == scene.name
    return [*scene.more, *scene.says] if is_told else [*scene.says, *scene.more]


def patterns() -> Sequence[re.Pattern[str]]:
    """Return all patterns of all languages."""
    found = [scene for code in LANGUAGES for scene in scenes(code)]
    return [each for scene in found for each in (scene.heard, scene.beside, scene.unless)]
