"""What the tour says in an open conversation to what somebody brings, before it shows anything.

What words are for is sensed (`sense`), in the light of what was said just before. It says no sentence twice
as long as there is another, and finds again what was said in this conversation.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.asides import about_tour, answer_question, fresh, in_both_languages, pick
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import PATTERNS, Heard, is_about, search
from coaching.practice.coach.sense import CRIES, FELT, LAUGHS, sense
from coaching.safety.grief import is_grief
from coaching.safety.intensity import SaidWords, measure_intensity

_SCRIPT = re.compile(r"\b(?:script|Skript|guion)", re.IGNORECASE)
_WORD = re.compile(r"\w{3,}")
_NAME = re.compile(r"^Name: (?!not known yet)(.+)$", re.MULTILINE)
_NAMED = re.compile(
    r"(?<=[a-zà-ÿ,] )(?!(?:Mum|Mom|Dad|[MTWFS]\w+day|Dr|Mr|Mrs|Ms|God|Christmas)\b)[A-ZÀ-Þ][a-zà-ÿ]{2,20}\b"
)
_CLAUSE = re.compile(r"[^.!?;:\n,…()\"“”„]+")
_MAX_CLAUSE, _CLAUSE_WORDS = 64, (3, 11)
_EVERYDAY = frozenset(PATTERNS["common"]["everyday"].split())
_STEM = 5
_FRIENDLY = re.compile("[🎉🥳😊😀😁❤💪👍🙂😍🙌✨😘🤗💕🙏]")
_SIGNS = (("tears", CRIES), ("tease", LAUGHS), ("sign", _FRIENDLY))
_AS_HEARD = frozenset({"nonsense", "refusal"})
"""Kinds that are answered whatever else is in the words."""
_STAYS = frozenset({
    "told", "ack", "felt", "loss", "sad", "lonely", "tired", "sleep", "shame", "close", "ill", "refuse",
    "begin", "again", "answered",
})  # fmt: skip
"""Intents of words after a loss that are still about it."""
_MAY_REPEAT = frozenset({"told", "answered", "complaint"})
"""Intents of words that may point to what was said before: "I already told you"."""
_HEAVY = frozenset({"felt", "sad", "tired", "fear", "shame", "lonely"})
_LASTS = 3
"""So many messages later something confided still counts."""
_HINTED = frozenset({"thanks", "praise", "told", "answered", "look"})
_HINT_EVERY = 4


def talk(conversation: Conversation, newest: Exchange, heard: Heard) -> str:
    """Return what to say to the newest words of an open conversation."""
    words = newest.answer
    if found := search("name", words):
        return texts.said("named_you", name=next(filter(None, found.groups())).capitalize())
    if is_about("my_name", words):
        return _say_name(conversation)
    if heard.kind == "foreign":
        return in_both_languages(heard)
    if heard.kind in _AS_HEARD:
        return pick(texts.reactions(heard.kind), conversation)
    if heard.kind == "long" or is_about("pasted", words):
        return pick(texts.reactions("pasted"), conversation)
    if is_about("wrote", words) or is_about("in_play", words) or about_tour(words):
        return answer_question(conversation, words)
    if heard.kind == "empty" and "?" in words:
        return pick(texts.questions()["again"], conversation)
    if heard.kind == "empty":
        sign = next((name for name, pattern in _SIGNS if pattern.search(words)), "silence")
        return _say(conversation, sign)
    return _say_to(conversation, _intent(conversation))


def _say_to(conversation: Conversation, intent: str) -> str:
    """Return what to say to newest words with an intent."""
    words = conversation.exchanges[-1].answer
    if intent == "recall" or (intent in _MAY_REPEAT and is_about("told_already", words)):
        return _say_told(conversation)
    if intent == "bye":
        return say_goodbye_to(conversation)
    grief = fresh(texts.reactions("grief"), conversation) if intent == "loss" else ""
    if grief or intent in {"loss", "after_grief"}:
        return grief or pick(texts.reactions("after_grief"), conversation)
    is_heavy = intent in _HEAVY and measure_intensity([SaidWords(text=words)]).is_high
    if is_heavy and (heavy := fresh(texts.reactions("heavy"), conversation)):
        return heavy
    return " ".join([_say(conversation, intent), *_hint(conversation, intent)])


def introduce(told: str) -> str:
    """Return first words with who is speaking, unless they say it already."""
    return told if _SCRIPT.search(told) else f"{told}\n\n{texts.said('introduced')}"


def say_goodbye_to(conversation: Conversation) -> str:
    """Say goodbye by name, if it was told here."""
    if name := name_told(conversation):
        return texts.said("bye_name", name=name)
    if is_about("night", conversation.exchanges[-1].answer):
        return texts.answers("good_night")[0]
    return texts.answers("goodbye")[1 if _was_confided(conversation) else 0]


def name_told(conversation: Conversation) -> str:
    """Return the name that the person gave in this conversation, or nothing."""
    told = [search("name", exchange.answer) for exchange in conversation.exchanges if not exchange.value]
    return next((next(filter(None, found.groups())).capitalize() for found in reversed(told) if found), "")


def found_here(conversation: Conversation, query: str) -> str:
    """Return what the person said in this conversation with a word of the query, or nothing."""
    wanted = _stems(query)
    for exchange in reversed(conversation.exchanges[:-1]):
        if not exchange.value and wanted & _stems(exchange.answer):
            return texts.said("found_here", words=clip(" ".join(exchange.answer.split()), 240))
    return ""


def short_clause(words: str) -> str:
    """Return the longest short clause of somebody's words, as they wrote it; nothing without one."""
    least, most = _CLAUSE_WORDS
    clauses = [found[0].strip(" -–—'") for found in _CLAUSE.finditer(words)]
    fitting = [c for c in clauses if len(c) <= _MAX_CLAUSE and least <= len(c.split()) <= most]
    return max(fitting, key=len, default="")


def _intent(conversation: Conversation) -> str:
    """Return the intent of the newest words, as what was said before them lets it be taken."""
    newest = conversation.exchanges[-1]
    intent = sense(newest.answer)
    before = [sense(each.answer) for each in conversation.exchanges[-1 - _LASTS : -1] if not each.value]
    if intent in _STAYS and _is_after_grief(conversation):
        return {"loss": "loss", "ack": "presence"}.get(intent, "after_grief")
    if before[-1:] == ["write"] and intent in {"told", "felt", "refuse", "sorry"}:
        return "brief"
    if _was_confided(conversation):
        return {"ack": "presence", "told": "felt", "tease": "tease_after"}.get(intent, intent)
    if intent == "told" and newest.question.rstrip().endswith("?"):
        return "told" if texts.stands_in("menu", newest.question) else "answered"
    return intent


def _was_confided(conversation: Conversation) -> bool:
    """Return whether something hard was told a moment ago."""
    before = [each.answer for each in conversation.exchanges[-1 - _LASTS : -1] if not each.value]
    return any(sense(words) in FELT | {"felt"} for words in before)


def _is_after_grief(conversation: Conversation) -> bool:
    before = [each.answer for each in conversation.exchanges[-1 - _LASTS : -1] if not each.value]
    return any(is_grief(words) or sense(words) == "loss" for words in before)


def _say(conversation: Conversation, intent: str) -> str:
    """Return a wording that wasn't used yet; after a question, rather one that asks nothing."""
    newest = conversation.exchanges[-1]
    has_asked = newest.question.rstrip().endswith("?")
    pools = [intent, "felt" if intent in FELT or _was_confided(conversation) else "told"]
    clause = short_clause(newest.answer)
    for pool in pools:
        wordings = [each for each in texts.answers(pool) if clause or "{words}" not in each]
        new = [each for each in wordings if not _is_said(each, conversation)]
        if new:
            quiet = [each for each in new if not each.endswith("?")] if has_asked else []
            return (quiet or new)[0].format(words=clause)
    used = texts.answers(pools[-1])
    return used[len(conversation.exchanges) % len(used)].format(words=clause or newest.answer[:60])


def _is_said(wording: str, conversation: Conversation) -> bool:
    return max(wording.split("{words}"), key=len) in conversation.spoken


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EVERYDAY}


def _say_name(conversation: Conversation) -> str:
    if name := name_told(conversation):
        return texts.said("your_name", name=name)
    account = _NAME.search(conversation.section("session_context"))
    return texts.said("account_name", name=account[1]) if account else texts.said("no_name")


def _say_told(conversation: Conversation) -> str:
    """Return what the person said before that has the most words in common with what they ask."""
    asked = conversation.exchanges[-1].answer
    said = [
        exchange.answer
        for exchange in conversation.exchanges[:-1]
        if not exchange.value
        and "?" not in exchange.answer
        and sense(exchange.answer) not in {"hello", "ack"}
    ]
    if is_about("a_name", asked) and (name := _name_of_another(said)):
        return texts.said("your_name", name=name)
    wanted = _stems(asked)
    near = max(said[-8:], key=lambda text: (len(wanted & _stems(text)), len(text)), default="")
    words = clip(" ".join(near.split()), 240)
    return texts.said("found_here", words=words) if words else texts.said("told_nothing")


def _name_of_another(said: Sequence[str]) -> str:
    """Return the last name inside a sentence of theirs; in German, where nouns look the same, none."""
    if texts.language() == "de":
        return ""
    return next((found[-1] for words in reversed(said) if (found := _NAMED.findall(words))), "")


def _hint(conversation: Conversation, intent: str) -> Sequence[str]:
    """Return now and then what else there is to see, each hint once, and never to somebody in trouble."""
    recent = "\n".join(exchange.question for exchange in conversation.exchanges[-_HINT_EVERY:])
    is_due = intent in _HINTED and len(conversation.exchanges) >= _HINT_EVERY
    if not is_due or _was_confided(conversation) or texts.stands_in("menu", recent):
        return []
    if texts.stands_in("hints", recent, "reactions"):
        return []
    hint = fresh(texts.reactions("hints"), conversation)
    return [hint] if hint else []
