"""The step that an answer in the thread names, though not as a promise: "I could text him on Thursday".

What somebody could do is no promise, so the tour asks, and a yes is enough. A day alone, or a yes, after the
tour has said how a step gets on the list is joined with what they said before.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.on_list import says, time_in
from coaching.practice.coach.plans import CREATE, Plan, said_bare, title_of
from coaching.practice.coach.quoting import (
    AROUND,
    SENTENCES,
    asks_in,
    bare_of,
    before_objection,
    first_clause,
    without_comments,
)
from coaching.practice.coach.texts import LANGUAGES
from coaching.practice.coach.thread import asks_nothing, question_in, thread, weights_in

_ASK = frozenset({"hands", "piece"})
_LATELY, _MIN_WORDS, _FEW_WORDS = 3, 2, 4
_ONLY_WHEN = re.compile(
    r"\A\W*(?:(?:ok(?:ay)?|well|yes|so|then|maybe|perhaps|probably|first thing|early|in the morning"
    r"|for example|na|ja|gut|dann|gleich|halt|mal|mismo|zum beispiel|por ejemplo"
    r"|vielleicht|vllt|wohl|eher|früh|abends?|vormittags?|nachmittags?|mittags?|pues|sí|igual|quizás?|mejor"
    r"|am we|am wochenende|este finde|at the weekend|this weekend"
    r"|mornings?|afternoons?|evenings?|nights?|lunchtime"
    r"|temprano|por la (?:mañana|tarde|noche)|x la (?:mañana|tarde|noche))\b\W*)*"
    r"(?:(?:at|after|before|in|during|over|bei|beim|nach|vor|im|zum|um|gegen|ab|después de|antes de|a|en)"
    r"\s[\w :.'’]{1,30})?\W*\Z",
    re.IGNORECASE,
)
"""What is left of words without their day that only say when."""
_LONG_WORD = re.compile(r"\w{5,}")
_TO = re.compile(r"(?<=\s)zu\s(?=\w+e?n\Z)")
_PARTICLES = re.compile(r"\s(?:halt|eben)\s", re.IGNORECASE)
_REFERS = re.compile(
    r"\A(?:(?:das|es|that|it|this|eso)\s)?(?:tun|machen|do|hacer|hacerlo)(?:\s(?:das|es|that|it|this|eso))?\Z",
    re.IGNORECASE,
)
"""How a title only refers to what was said before."""
_OWN = re.compile(r"\b(?:ich|i|yo|we|wir)\b", re.IGNORECASE)
_ADVERBS = frozenset(
    {"vielleicht", "vllt", "dann", "da", "ok", "okay", "ja", "naja", "na", "also", "gut", "nun", "natürlich"}
)
_OBJECT = re.compile(r"[aeií]r(?:l[aeo]s?|me|te|se|nos)\Z", re.IGNORECASE)
"""A Spanish verb with its object, which is a step by itself: "llamarla"."""


def agrees(words: str) -> bool:
    """Return whether a few words agree and say nothing else."""
    is_yes = says("yes", words) and not says("no", words) and not is_about("thanks_words", words)
    return bool(is_yes) and "?" not in words and len(words.split()) <= _FEW_WORDS


def has_told_how(said: str) -> bool:
    """Return whether the tour said how a step gets on the list."""
    known = [thread(code) for code in LANGUAGES]
    return any(each in said for own in known for each in (own["keep"], own["keep_dated"], *own["yes"]))


def said_as_step(conversation: Conversation) -> Plan | None:
    """Return the step that is said with its day right after the tour asked for that; None for other words."""
    newest = conversation.exchanges[-1]
    if newest.value or not has_told_how(newest.question) or CREATE not in conversation.tools:
        return None
    own = thread(texts.language())["heard"]
    words = own["fillers"].sub("", newest.answer.strip())
    is_other = is_about("takes_leave", words) or asks_in(words) or own["no_step"].search(words)
    if is_other:
        return None
    bare = said_bare(conversation, words)
    return bare if bare or says("fits_day", words) else _joined(conversation, words)


def possible_step(conversation: Conversation, at: int = -1) -> Plan | None:
    """Return the step with its day that somebody could take, as they answered the tour; None without one."""
    told = conversation.exchanges[at]
    if told.value or weights_in(conversation)[at] or asks_in(told.answer):
        return None
    is_asked = _is_asked(told) or (_could(told.answer) and not asks_nothing(conversation))
    if is_about("takes_leave", told.answer) or not is_asked:
        return None
    dated = [each for each in _sentences(told) if any(days_in(each, None))]
    found = (
        _on_day_of(conversation, each, each, told.answer)
        for each in dated
        if _could(each) or not says("states", _without_day(each))
    )
    if plan := next(filter(None, found), None):
        return plan
    others = (_on_day_of(conversation, each, dated[0], told.answer) for each in _sentences(told) if dated)
    return next(filter(None, others), None) or _joined(conversation, told.answer, at)


def _could(words: str) -> bool:
    return bool(thread(texts.language())["heard"]["could"].search(words.replace("’", "'")))


def _is_asked(told: Exchange) -> bool:
    return question_in(told.question) in _ASK or has_told_how(told.question)


def _sentences(told: Exchange) -> Sequence[str]:
    known = thread(texts.language())["heard"]
    meant = next(reversed(list(known["meant"].finditer(told.answer))), None)
    words = told.answer[meant.end() :] if meant else told.answer
    own = SENTENCES.findall(without_comments(words, told.question))
    return [before_objection(each.strip()).strip(AROUND) for each in own]


def _without_day(words: str) -> str:
    day = next(days_in(words, None), None)
    return " ".join(words.replace(day[0], " ", 1).split()) if day else words


def _title(words: str) -> str:
    """Return what somebody could do, as a step's title: what follows "I could", or a verb alone."""
    own, bare = thread(texts.language())["heard"], bare_of(_without_day(words))
    plain = bare.replace("’", "'")
    found = own["could"].search(plain)
    before = plain[: found.start()].split() if found and found["inverted"] else []
    before = [each for each in before if each.strip(AROUND).lower() not in _ADVERBS]
    said = " ".join([*before, found["do"]]) if found else bare
    said = _PARTICLES.sub(" ", said)
    title = _TO.sub("", title_of(said).strip(AROUND).replace(" ,", ","))
    hour = says("hour", bare)
    if hour and len(bare.split()) <= len(hour[0].split()) + 1:
        return ""  # a time alone
    is_one = len(title.split()) < _MIN_WORDS and not _OBJECT.search(title)
    is_told = (not found and (_OWN.search(title) or _ONLY_WHEN.match(title))) or _REFERS.match(title)
    is_bare = says("bare", title) or says("bare", title.partition(",")[0])
    return "" if is_one or is_told or not (found or is_bare) else title


def _names(title: str, words: str) -> bool:
    """Return whether words name something that stands in a title, of more than a few letters."""
    own = set(_LONG_WORD.findall(title.lower()))
    return bool(own & set(_LONG_WORD.findall(words.lower())))


def _on_day_of(conversation: Conversation, sentence: str, dated: str, quote: str) -> Plan | None:
    """Return the step that a sentence names, on the day of another one or of its own."""
    title, today = _title(sentence), today_in(conversation)
    day = next((day for _, day in days_in(dated, today)), None) if today else None
    return Plan(title=title, quote=quote.strip(), day=day, at=time_in(dated)) if title and day else None


def _joined(conversation: Conversation, words: str, at: int = -1) -> Plan | None:
    """Return the step of an earlier answer with the day of a few words, or on the day that they agree to."""
    lately = [each for each in conversation.exchanges[:at][-_LATELY:] if not each.value]
    before = [each for each in lately if _is_asked(each) or _could(each.answer)]
    said = [*(each.answer for each in before), words]
    is_yes = agrees(words)
    dated = next((each for each in reversed(said) if any(days_in(each, None))), "")
    is_when = _ONLY_WHEN.match(_without_day(first_clause(words))) or says("fits_day", words)
    is_day = dated == words and bool(is_when)
    titles = (_title(each) for told in reversed(before) for each in _sentences(told))
    title, today = next(filter(None, titles), ""), today_in(conversation)
    is_day = is_day or (dated == words and _names(title, words))
    if not dated or not (is_yes or is_day) or any(weights_in(conversation)):
        return None
    day = next((day for _, day in days_in(dated, today)), None) if today else None
    return Plan(title=title, quote=words.strip(), day=day, at=time_in(dated)) if title and day else None
