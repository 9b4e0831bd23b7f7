"""What words plainly do, where a pattern says so with certainty: `acts.toml`. Anything else is sensed."""

import re
from collections.abc import Mapping
from functools import cache

from coaching.practice.coach import texts
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import is_about, search
from coaching.practice.coach.sense import sense
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import read_table
from coaching.safety.readable import plain_letters

_AFTER = "after_privacy"
_PRIVACY = (
    "private", "stored", "authority", "employer", "relative", "remove", "train", "trust", "take", "maker",
)  # fmt: skip
"""Answers that a short question may go on from."""
_SHORT_WORDS, _LONG_WORDS, _PLAN_WORDS = 12, 14, 8
_STORY_WORDS = 9


_ASKED_LAST = (
    "advice", "selfask", "prognosis", "stored", "private", "doubt", "helpwith", "plan", "getthrough",
    "undecided",
)  # fmt: skip
"""What a longer message may ask with its last words."""
_DIRECT = (
    "register", "identity", "able", "therapist", "available", "time", "real", "whyask", "of_them", "normal",
    "unanswered", "misheard", "doubts_tip", "takes_idea", "trust", "explain",
    "parts_shown", "another_idea", "legal", "language",
    "doubt", "stored",
)  # fmt: skip
"""English acts that a sentence does by itself, whatever stands beside it."""
_SENTENCE = re.compile(r"[^.!?\n]++[.!?]*+")
_CLAUSE = re.compile(r"[.,;:!?](?=\s)")
_MAX_MENDED = 60
_GOES_ON = re.compile(
    r"\W*(?:(?:ok|okay|vale|gut)\W+)?(?:and|or|what about|how about|not even|und|oder|auch|y|o|ni)\b"
)
"""How a question goes on from the one before, with or without its mark."""
_QUOTED = re.compile('["“„«][^"“”„»\n]{1,120}["“”»]')
"""What others said, which does nothing itself."""
_STORY = re.compile(r"(?:i|ich|yo|it|es|that|das|eso|no|nein)\b", re.IGNORECASE)
"""How words begin that tell more rather than put something right."""


@cache
def act_patterns() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    """Return the patterns by language, then by act."""
    return {
        group: {name: _pattern(text) for name, text in given.items()}
        for group, given in read_table("acts").items()
    }


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


@texts.once_per_text
def plain_act(words: str) -> str:
    """Return what words plainly do, or nothing; long words do more than that."""
    said = _QUOTED.sub(" ", words)
    letters = plain_letters(standard(said if any(map(str.isalnum, said)) else words))
    is_long = len(letters.split()) > _LONG_WORDS
    code = spoken_language(words) or texts.language()
    known = act_patterns()[code]
    if code == texts.ENGLISH and (asked := _asked_directly(letters, known, is_long=is_long)):
        return asked
    if is_long:
        clauses = _CLAUSE.split(letters)
        if known["jotask"].search(_SENTENCE.findall(letters)[-1]):
            return "jotask"
        if "plan" in known and known["plan"].search(clauses[0]):
            return "plan"
        return next((name for name in _ASKED_LAST if name in known and known[name].search(clauses[-1])), "")
    found = (name for name, pattern in known.items() if pattern.search(letters))
    return next((name for name in found if name != "begin" or begins_in(words)), "")


def _asked_directly(letters: str, known: Mapping[str, re.Pattern[str]], *, is_long: bool) -> str:
    """Return which question that stands in a sentence of its own is asked, or nothing."""
    sentences = [each.strip() for each in _SENTENCE.findall(letters)]
    asked = [each for each in reversed(sentences) if each.endswith("?") or not is_long]
    return next((name for each in asked for name in _DIRECT if known[name].search(each)), "")


def about_tour(words: str) -> str:
    """Return the name of the question about the tour that words ask, or nothing."""
    topic = sense(words).topic
    return topic if topic in texts.questions() else ""


def is_of_plan(words: str) -> bool:
    """Return whether a longer message names a plan and never the tour, so its questions are about that."""
    is_long = len(words.split()) > _PLAN_WORDS
    return is_long and is_about("intends", words) and not is_about("of_tour", words)


def is_of_else(words: str) -> bool:
    """Return whether words that seem to ask what the tour can do ask something else."""
    is_how = is_about("advice", words) or is_about("how_to_tell", words)
    return bool(plain_act(words)) or is_how or is_of_plan(words)


def asks_to_be_reminded(words: str) -> bool:
    """Return whether words, whatever else they do, ask for a reminder."""
    return does("remind", words)


@texts.once_per_text
def does(act: str, words: str) -> bool:
    """Return whether words, whatever else they do, do one thing plainly."""
    known = act_patterns()[spoken_language(words) or texts.language()]
    return bool(known[act].search(plain_letters(standard(words))))


def begins_in(words: str) -> bool:
    """Return whether a message of some length says that somebody is new here, and nothing more."""
    letters = plain_letters(standard(words))
    begin = act_patterns()[texts.language()]["begin"]
    if len(letters.split()) > 2 * _LONG_WORDS or not begin.search(letters):
        return False
    others = [each for each in _SENTENCE.findall(letters) if not begin.search(each)]
    return not any(_is_of_weight(each) for each in others)


def _is_of_weight(sentence: str) -> bool:
    """Return whether a sentence asks something, or tells a story that isn't about being here."""
    is_story = len(sentence.split()) >= _STORY_WORDS and not is_about("of_tour", sentence)
    return sentence.rstrip().endswith("?") or is_story


def mended_in(words: str) -> str:
    """Return what words put right: "no, I meant my aunt", "not my brother, my cousin"; nothing for others."""
    found = search("meant", words) or search("mends", words)
    said = next(filter(None, found.groups()), "") if found else ""
    for end in ".!?;":
        said = said.partition(end)[0]
    mended = " ".join(said.split()).strip(" .!,;:-–“”«»\"'")
    is_asked = any(is_about(name, mended) for name in ("question", "asks", "asks_plainly"))
    is_story = len(mended) > _MAX_MENDED or _STORY.match(mended) or is_asked
    return "" if is_story else mended


def named_in(words: str) -> str:
    """Return the name of somebody else that short words give, or nothing."""
    found = search("names", words) if len(words.split()) <= _SHORT_WORDS else None
    return next(filter(None, found.groups()), "") if found else ""


def asked_after_privacy(conversation: Conversation) -> str:
    """Return which question about the tour a short one is right after such an answer; nothing if none."""
    newest = conversation.exchanges[-1]
    letters = plain_letters(newest.answer)
    is_after = any(texts.stands_in(name, newest.question, "questions") for name in _PRIVACY)
    is_asked = "?" in letters or _GOES_ON.match(letters)
    if not (is_after and is_asked and len(letters.split()) <= _SHORT_WORDS):
        return ""
    return next((name for name, each in act_patterns()[_AFTER].items() if each.search(letters)), "")
