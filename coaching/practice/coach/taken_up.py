"""Answers to words that name no situation: they take up a general word, such as “again”.

`taken_up.<language>.toml` has these words, each with answers that fit whatever it is about.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from coaching.practice.coach import texts
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear, is_about
from coaching.practice.coach.reading import wants_no_questions
from coaching.practice.coach.saying_back import echo, say_back
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.statements import without_asides
from coaching.practice.coach.texts import LANGUAGES, Language, read_table
from coaching.practice.coach.wordings import has_asked_often, without_question

_BRIEF = "brief_"
"""How the names begin of words that are the whole message: they are asked about after any question."""
MISTAKEN = frozenset({"complain", "refuse", "sorry", "test", "praise", "tease", "thanks"})
"""Acts that aren't meant where a situation is named, or more is told, and the tour isn't."""
_TOLD = frozenset({"tell", "open", "confide", "short"})
_FEW_WORDS = 6
_MIN_SAID = 45
"""So many characters say something without the question after them."""
_MIN_WORDS, _MAX_WORDS = 4, 60


@cache
def taken_up(language: Language) -> Mapping[str, tuple[re.Pattern[str], Sequence[str]]]:
    """Return a language's words with what is said to them: the first that fits counts."""
    table = read_table(f"taken_up.{language}")
    return {name: (_pattern(given["heard"]), given["says"]) for name, given in table.items()}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def take_up(conversation: Conversation, words: str) -> str:
    """Return what to say to a general word among those of the person; nothing where none is known."""
    said = standard(without_asides(" ".join(words.replace("’", "'").split())))
    if "?" in said or hear(words).kind != "answer" or wants_no_questions(conversation):
        return ""
    if spoken_language(words) not in {None, texts.language()} or len(said.split()) > _MAX_WORDS:
        return ""
    is_mute = has_asked_often(conversation)
    for name, (heard, says) in taken_up(texts.language()).items():
        is_brief = name.startswith(_BRIEF)
        if not (is_brief or len(said.split()) >= _MIN_WORDS) or not (found := heard.search(said)):
            continue
        for each in says:
            filled = _filled(each, found)
            told = without_question(filled)
            question = filled.removeprefix(told).strip()
            if any(part in conversation.spoken for part in (told, question) if part):
                continue
            if not (is_mute and not is_brief):
                return filled
            if len(told) >= _MIN_SAID or texts.language() != texts.ENGLISH:
                return told
    return ""


def keep_to(conversation: Conversation, words: str, act: str) -> str:
    """Return what takes up or says back words that name no situation; nothing where neither fits."""
    is_long = len(words.split()) > _FEW_WORDS and not is_about("of_tour", words)
    is_meant = act in _TOLD or (act in MISTAKEN and is_long)
    taken = take_up(conversation, words) if is_meant else ""
    ways = (echo, say_back) if texts.language() == texts.ENGLISH else (say_back, echo)
    return taken or next(filter(None, (way(conversation, words, act) for way in ways)), "")


def _filled(wording: str, found: re.Match[str]) -> str:
    words = next(filter(None, found.groups()), "")
    filled = wording.format(words=words)
    return filled[:1].upper() + filled[1:]


def patterns() -> Sequence[re.Pattern[str]]:
    """Return all patterns of all languages."""
    return [heard for code in LANGUAGES for heard, _ in taken_up(code).values()]
