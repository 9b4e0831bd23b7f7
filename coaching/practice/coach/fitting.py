"""Whether typed words answer a question of an arc, or bring something that has to be heard first.

A file gets only what was said for the place that was asked about. So a request, a joke, a correction or a
sorrow that the question didn't ask for fills nothing, and is answered like anywhere else.
"""

import re

from coaching.practice.coach.acts import mended_in, named_in, plain_act
from coaching.practice.coach.confiding import is_confided
from coaching.practice.coach.grieving import is_of_loss
from coaching.practice.coach.hearing import MAX_ITEMS, is_about, items_in, search
from coaching.practice.coach.known_scenes import GRAVE
from coaching.practice.coach.reading import is_asking
from coaching.practice.coach.scenes import is_hard, names_feeling, scene_in
from coaching.practice.coach.sense import CRIES, sense
from coaching.practice.coach.spoken import PATTERNS
from coaching.practice.coach.tables import Slot
from coaching.safety.intensity import SaidWords, measure_intensity

_NO_ANSWERS = frozenset(
    {
        "ask_self", "ask_world", "ask_advice", "ask_back", "want_text", "test", "complain", "praise",
        "thanks", "bye",
    }
)  # fmt: skip
"""Acts of words that answer no question."""
_SURE = 0.8
_THANKS = re.compile(
    r"\W*(?:many |vielen |lieben |muchas )?(?:thanks|thank you|thx|danke|gracias)"
    r"(?:\W+(?:so|very|much|a lot|sage|you|again|for|that|this|listening|not|judging|me|your|help|asking"
    r"|being|here|dir|sehr|schön|fürs|zuhören|für|das|muchas|por|todo|escuchar|escucharme|tu|ayuda)){0,7}\W*\Z",
    re.IGNORECASE,
)
_ASIDES = frozenset(
    {
        "complain", "remove", "praise", "identity", "merely", "doubt", "listening", "repeated", "whyask",
        "really", "reassured", "advice", "entertain", "language", "private", "stored", "train",
        "another_joke", "nextup", "subject", "letgo", "plead", "look", "secret", "justtalk", "whynot",
        "notest", "nomust", "notnow", "usage", "remind",
    }
)  # fmt: skip
"""Acts by patterns that an answer doesn't have; others count where something is asked for."""
_OF_CHAT = frozenset(
    {"praise", "look", "private", "listening", "subject", "train", "usage", "notnow", "remind", "repeated"}
)
"""Acts by patterns that what is told has by chance, too: they count in a few words of the tour alone."""
_CHAT_WORDS = 6
_OF_LIFE = re.compile(
    r"\b(?:my|our|he|she|they|said|when|mein\w*|unser\w*|er|sie|als|mis?|nuestr\w*|él|ella|ellos|dijo|cuando)\b",
    re.IGNORECASE,
)
_OF_ARC = frozenset({"nomust", "notest"})
"""Questions about an arc rather than about one of its questions."""
_MOOD_WORDS, _MOOD_CHARACTERS = 9, 80
"""So long may a mood in own words be."""
_LIST, _ITEM_WORDS = range(2, MAX_ITEMS + 1), 6
_NO_LIST = re.compile(
    r"[.!?\d]|\b(?:but|is|are|was|were|i'm|it's|i|he|she|they|aber|ist|war|bin|ich|er|pero|está|estoy|es|yo|fue"
    r"|tiene|siento)\b",
    re.IGNORECASE,
)
"""What is in no list of things, and in no task or quality."""
_INTENDED = re.compile(
    r"\W*(?:i(?:'m| am)? (?:want|need|have|going|hope|plan|would like)|i'd like|to|be|not"
    r"|ich (?:will|muss|möchte|werde)|(?:no )?quiero|tengo que|voy a|ser|estar)\b",
    re.IGNORECASE,
)
"""How begins what somebody means to do or to be, however hard it is."""
_TURNED_BACK = re.compile(
    r"\W*(?:no|nope|sorry|wait|oops|nein|nee|ne|quatsch|perd[oó]na?|espera)[,.;!]\s", re.IGNORECASE
)
"""How a correction begins of what wasn't said in answer to a question: "no, not my son, my husband"."""
_PART_WORDS = 9
_HARD_WORDS = 4
"""So few words are a state rather than a story."""
_QUESTION_WORDS = 7
"""So few words ask what a question means; longer ones ask something else."""
_SENTENCES = re.compile(r"[.!?…](?=\s+\w)")
_OF_OTHERS = re.compile(r"\W*(?:he|she|they|his|her|their|er|sein|ihr|él|ella|ellos|su)\b", re.IGNORECASE)
_FEELS = re.compile(
    r"\b(?:slept|sleep|woke|wak|rested|tired|feel|felt|energy|mood|happy|calm|schlaf|schläf|geschlafen|ausgeschlafen|verschlafen|wach|fühl"
    r"|müde|ausgeruht|energie|laune|froh|dorm|duerm|despert|levant|siento|sentid|cansad|energía|ánimo|content)",
    re.IGNORECASE,
)
"""How words begin that tell of a state."""
_OF_PARTS = {
    name: re.compile(rf"\b(?:{words})", re.IGNORECASE) for name, words in PATTERNS["of_parts"].items()
}


def is_heavy(words: str) -> bool:
    """Return whether words are so hard that nothing is asked right after them."""
    if is_of_loss(words) or measure_intensity([SaidWords(text=words)]).is_high or CRIES.search(words):
        return True
    scene = scene_in(words)
    return scene is not None and scene.name in GRAVE and len(words.split()) > _HARD_WORDS


def is_list(words: str) -> bool:
    """Return whether words are a short list of a few things."""
    items = items_in(words)
    is_short = all(len(item.split()) <= _ITEM_WORDS for item in items)
    return "," in words and len(items) in _LIST and is_short and not _NO_LIST.search(words)


def is_weighty(words: str) -> bool:
    """Return whether words tell of something hard."""
    return is_hard(words) or is_heavy(words)


def is_aside(words: str) -> bool:
    """Return whether words plainly do something else than answer a question."""
    act = plain_act(words)
    is_told = act in _OF_CHAT and (len(words.split()) > _CHAT_WORDS or _OF_LIFE.search(words))
    if is_told and not is_asking(words):
        return False
    is_state = act == "reassured" and len(words.split()) <= 2
    is_plain = (act in _ASIDES and not is_state) or (act and is_asking(words)) or bool(_THANKS.match(words))
    if is_plain or any(is_about(name, words) for name in ("turns_to", "no_questions", "asks_plainly")):
        return True
    sensed = sense(words)
    is_to_tour = sensed.act in {"test", "complain", "praise"} and is_about("of_tour", words)
    is_leaving = sensed.act == "bye" and is_about("takes_leave", words)
    is_asked = is_asking(words) or is_to_tour or is_leaving
    return sensed.act in _NO_ANSWERS and sensed.share >= _SURE and is_asked


def asks_about_slot(words: str) -> bool:
    """Return whether a question is about the question that was just asked."""
    if not is_about("about_slot", words) or is_about("tip_talk", words) or plain_act(words) in _OF_ARC:
        return False
    return len(words.split()) <= _QUESTION_WORDS or scene_in(words) is None


def fits(words: str, slot: Slot) -> bool:
    """Return whether words, which are no question, can be what a slot asks for."""
    if is_aside(words) or (_TURNED_BACK.match(words) and mended_in(words)):
        return False
    if slot.kind == "choice":
        is_one = not _SENTENCES.search(words) and len(words) <= _MOOD_CHARACTERS
        is_own = not (slot.is_fixed or _OF_OTHERS.match(words) or named_in(words))
        is_felt = slot.name == "energy" or _FEELS.search(words) or names_feeling(words)
        most = _MOOD_WORDS if is_felt else _HARD_WORDS + 1
        is_state = len(words.split()) <= _HARD_WORDS or not is_heavy(words)
        return is_own and is_one and is_state and len(words.split()) <= most
    if slot.kind in {"items", "line"}:
        is_story = is_weighty(words) or (slot.kind == "items" and is_confided(words))
        is_told = is_story and _NO_LIST.search(words)
        return not is_told or bool(_INTENDED.match(words)) or (slot.kind == "items" and is_list(words))
    return slot.kind == "words"  # what is hard, or is of another part, is an answer, too


def is_of_part(name: str, words: str) -> bool:
    """Return whether words name something of a part of life."""
    return bool(_OF_PARTS[name].search(words))


def part_named(words: str) -> str:
    """Return the part of the life map that a few words name, or nothing."""
    if len(words.split()) > _PART_WORDS:
        return ""
    return next((name for name, pattern in _OF_PARTS.items() if pattern.search(words)), "")


def part_turned_to(words: str) -> str:
    """Return the part of the life map that somebody would rather talk about, or nothing."""
    turned = search("turns_to", words)
    rest = turned[0] if turned else ""
    return next((name for name, pattern in _OF_PARTS.items() if pattern.search(rest)), "")
