"""Which situation, feeling or thing words plainly name, and what there is to say in it.

Where a situation is named, what is said names it, too; what follows counts for it as long as it names none of
its own.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.acts import about_tour, plain_act
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.known_scenes import FEELINGS, GRAVE, Scene, scenes
from coaching.practice.coach.sense import sense
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.statements import without_asides
from coaching.safety.readable import plain_letters

_HARD = GRAVE | frozenset(
    {
        "boss", "care", "housing", "quarrel", "baby_wish", "lonely", "failed", "money", "worry", "anger",
        "sad", "letdown", "overload", "lost", "embarrassed", "custody", "jobhunt", "untold", "left_partner",
        "bullied_other", "withdraws", "clients", "newborn", "failure", "other_ill", "drugs", "panic",
        "unwell",
    }
)  # fmt: skip
"""Situations and feelings that are met before anything is asked."""
_FOLLOWED, _GRAVE_FOLLOWED = (0, 0, 0, 1), 2
"""So often what follows is answered for things, people, feelings and situations, and for grave ones."""
_STORY_WORDS = 6
"""In more German or Spanish words than that a thing is mentioned by the way."""
_SOMEBODY = re.compile(
    r"\b(?:er|sie|ihn|ihm|ihr\w*|el|ella|le|lo|la|mein\w*|unser\w*|mi|mis|nuestr\w+|hund\w*|katze\w*|baby|bebe|kind\w*"
    r"|mama|papa|oma|opa|abuel\w+|perr\w+|gat[oa])\b"
)
_NO_DEATHS = frozenset(
    {"child_leaves", "farewell", "patient_died", "left_partner", "parents_divorce", "breakup"}
)
"""Situations that can sound like the loss of somebody close, and aren't one."""
_MANY = 3
"""So many situations at once are a lot for one person, whichever they are."""
_PARTS = frozenset(
    {
        "insulted", "embarrassed", "parents_divorce", "left_partner", "bullied_other", "surgery", "panic",
        "said_yes", "moving", "mondays", "unwell", "tantrum", "free_day", "milestone", "doctor", "no_match",
        "dentist", "kita",
    }
)  # fmt: skip
"""Situations that are part of another one, and no further one."""
_ALL_AT_ONCE, _DEATH = "overload", "death"
_STEPS = frozenset({"exam", "interview", "putoff", "untold"})
"""What led to something that went well, or comes with it."""
LASTS = 4
"""So many messages later a situation still counts."""
_TURNS = re.compile(
    r"\W*(?:but|only|however|unfortunately|sadly|aber|nur|leider|allerdings|pero|solo que|por desgracia)\b"
)
"""How words begin that something glad is followed by."""
_GLAD_WORDS = 4
"""In fewer words nothing else is told."""
_REPORTED = re.compile(
    r"(?<!\bi )\b(?:says?|said|thinks?|reckons?|claims?|calls me|sagt|meint|findet|dice|piensa|cree)\s{1,3}"
    r"(?:(?:that|dass|que)\s{1,3})?(?:i'?m|i am|i'll|ich|soy|estoy|me)\s[^,.;!?]{1,60}?"
    r"(?=[,.;!?]| but | and | aber | und | pero |\Z)"
)
"""What others say of the person, which isn't what the person is or does."""


@texts.once_per_text
def scene_in(words: str) -> Scene | None:
    """Return the situation that words name."""
    letters = plain_letters(standard(words)).strip()
    letters = letters if " " in letters else f"i'm {letters}"  # "tired" says as much as "I'm tired"
    main = _REPORTED.sub("", without_asides(letters))
    known = scenes(spoken_language(words) or texts.language())
    found = [each for each in known if each.stands_in(letters if each.name in GRAVE else main)]
    heavy = [each for each in found if each.weight == len(_FOLLOWED) - 1 and each.name not in _PARTS]
    is_all = len(heavy) >= _MANY and not any(each.is_glad or each.is_quiet for each in found)
    name = _ALL_AT_ONCE if is_all else found[0].name if found else ""
    return next((each for each in scenes(texts.language()) if each.name == name), None)


def names_situation(words: str) -> bool:
    """Return whether words name a situation or a feeling, more than people and things."""
    scene = scene_in(words)
    return scene is not None and not scene.is_background


def is_hard(words: str) -> bool:
    """Return whether words name a situation or a feeling that is hard."""
    scene = scene_in(words)
    return scene is not None and scene.name in _HARD


def names_feeling(words: str) -> bool:
    """Return whether words name a feeling."""
    scene = scene_in(words)
    return scene is not None and (scene.name in FEELINGS or scene.name in _HARD)


def tells_of_death(words: str) -> bool:
    """Return whether words plainly tell of somebody's death."""
    scene = scene_in(words)
    return scene is not None and scene.name == _DEATH


def tells_of_no_loss(words: str) -> bool:
    """Return whether words name a situation that is no loss of somebody."""
    scene = scene_in(words)
    return scene is not None and not (scene.is_background or scene.is_quiet)


def names_somebody(words: str) -> bool:
    """Return whether words speak of a person or an animal; in English they are taken to."""
    return texts.language() == "en" or bool(_SOMEBODY.search(plain_letters(standard(words))))


def tells_of_no_death(words: str) -> bool:
    """Return whether words tell of something that only sounds like the death of somebody close."""
    scene = scene_in(words)
    return scene is not None and scene.name in _NO_DEATHS


def told_before(conversation: Conversation, *, lasts: int = LASTS) -> Sequence[Scene]:
    """Return the situations that were told in the last messages, the newest first."""
    told = [each.answer for each in conversation.exchanges[-1 - lasts : -1] if not each.value]
    stories = [words for words in reversed(told) if not (about_tour(words) or plain_act(words))]
    found = [(scene_in(words), words) for words in stories]
    return [scene for scene, words in found if scene and not (scene.is_background and "?" in words)]


def scene_before(conversation: Conversation) -> Scene | None:
    """Return what was told a moment ago: a situation rather than a feeling, these rather than background."""
    return max(told_before(conversation), key=lambda scene: scene.weight, default=None)


def wordings_for(conversation: Conversation, *, is_hard: bool) -> Sequence[str]:
    """Return what there is to say to the newest words in their situation, best first.

    `is_hard`: they tell of something hard, so nothing glad is said.
    """
    words = conversation.exchanges[-1].answer
    new, before = scene_in(words), scene_before(conversation)
    goes_on = before and (new is None or _goes_on(before, new))
    scene = before if goes_on else new
    is_incidental = scene is not None and scene is new and _is_by_the_way(scene, words)
    if (
        scene is None
        or is_incidental
        or (scene.is_glad and is_hard)
        or (before and before.is_glad and scene.name == "sad")
    ):
        return ()  # tears of joy, for one, are no matter for comfort
    if goes_on:
        is_turned = scene.is_glad and (_TURNS.match(plain_letters(standard(words))) or not _stays_glad(words))
        count = _GRAVE_FOLLOWED if scene.is_grave else _FOLLOWED[scene.weight]
        return () if is_turned else scene.more[:count]
    is_told = before is not None and before.name == scene.name
    if is_told and (felt := _feeling_in(words)):
        return [*felt.says, *felt.more]
    if is_told and texts.language() == texts.ENGLISH:
        return scene.more  # what opens a subject would begin it anew
    return [*scene.more, *scene.says] if is_told else [*scene.says, *scene.more]


def _is_by_the_way(scene: Scene, words: str) -> bool:
    """Return whether a message only mentions somebody or something everyday.

    English says early what it is about. German and Spanish order words more freely, so only length counts.
    """
    if texts.language() == texts.ENGLISH:
        return scene.is_background and not scene.is_subject_of(words)
    return not scene.weight and len(words.split()) > _STORY_WORDS


def _stays_glad(words: str) -> bool:
    """Return whether words after good news are glad themselves, or only a few."""
    return sense(words).act == "good" or len(words.split()) < _GLAD_WORDS


def _feeling_in(words: str) -> Scene | None:
    letters = plain_letters(standard(words))
    known = [each for each in scenes(texts.language()) if each.name in FEELINGS and not each.is_glad]
    return next((each for each in known if each.stands_in(letters)), None)


def _goes_on(before: Scene, new: Scene) -> bool:
    """Return whether words about something else still belong to what was told before."""
    if before.is_glad or before.is_quiet:
        return (new.is_background or new.name in _STEPS) if before.is_glad else not new.is_quiet
    return new.is_background and (new.weight < before.weight or not before.weight)
