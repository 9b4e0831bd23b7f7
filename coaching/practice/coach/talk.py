"""What the tour says in an open conversation to what somebody brings, before it shows anything.

It answers by topics, says no sentence twice, and finds again what was said in this conversation.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.asides import answer_question, fresh, in_both_languages, pick
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import PATTERNS, Heard, hear, is_about, search
from coaching.safety.grief import is_grief
from coaching.safety.intensity import SaidWords, measure_intensity

_SCRIPT = re.compile(r"\b(?:script|Skript|guion)", re.IGNORECASE)
_WORD = re.compile(r"\w{3,}")
_NAME = re.compile(r"^Name: (?!not known yet)(.+)$", re.MULTILINE)
_EVERYDAY = frozenset(PATTERNS["common"]["everyday"].split())
_STEM = 5
_TOPICAL = frozenset({
    "question", "request", "remark", "answer", "yes", "empty", "nonsense", "correction", "later", "long",
    "recall",
})  # fmt: skip
_PLAIN = frozenset({"thanks", "yes", "no", "miss", "unsure"})
"""Reactions after which a hint at what can be seen may follow."""
_OF_GRIEF = frozenset({"", "family", "sad", "lost", "tired", "overload", "lonely", "sleep", "failure"})
"""Topics of words after a loss that are still about it."""
_HEAVY = frozenset({"", "sad", "tired", "overload", "lost", "failure", "lonely", "anxious"})
"""Topics whose words may be too heavy for an answer from a list."""
_GRIEF_LASTS = 3
_HINT_EVERY = 4


def talk(conversation: Conversation, newest: Exchange, heard: Heard) -> str:
    """Return what to say to the newest words of an open conversation."""
    words = newest.answer
    if found := search("name", words):
        return texts.said("named_you", name=next(filter(None, found.groups())).capitalize())
    if is_about("my_name", words):
        return _say_name(conversation)
    if _is_after_grief(conversation) and heard.kind not in {"thanks", "hello", "pause"}:
        return pick(texts.reactions("after_grief"), conversation)
    if told := _on_topic(conversation, newest, heard):
        return told
    if heard.kind in {"answer", "recall"} and is_about("asks", words) and not is_about("why", words):
        return answer_question(conversation, words)
    kind = _reaction_to(newest, heard)
    said = in_both_languages(heard) if kind == "foreign" else pick(texts.reactions(kind), conversation)
    return " ".join([said, *_hint(conversation, kind)])


def introduce(told: str) -> str:
    """Return first words with who is speaking, unless they say it already."""
    return told if _SCRIPT.search(told) else f"{told}\n\n{texts.said('introduced')}"


def say_goodbye_to(conversation: Conversation) -> str:
    """Say goodbye by name, if it was told here."""
    name = name_told(conversation)
    return texts.said("bye_name", name=name) if name else texts.said("bye")


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


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EVERYDAY}


def _say_name(conversation: Conversation) -> str:
    if name := name_told(conversation):
        return texts.said("your_name", name=name)
    account = _NAME.search(conversation.section("session_context"))
    return texts.said("account_name", name=account[1]) if account else texts.said("no_name")


def _is_after_grief(conversation: Conversation) -> bool:
    """Return whether a loss was told a moment ago, and these words are about nothing else."""
    newest = conversation.exchanges[-1]
    before = conversation.exchanges[-1 - _GRIEF_LASTS : -1]
    topics = [texts.topic_in(table, newest.answer)[0] for table in ("questions", "topics")]
    is_other = bool(set(topics) - _OF_GRIEF)
    return any(is_grief(exchange.answer) for exchange in before) and not is_other


def _on_topic(conversation: Conversation, newest: Exchange, heard: Heard) -> str:
    """Return what there is to say on the topic of words; nothing for none, or if all of it was said."""
    words = newest.answer
    if heard.kind not in _TOPICAL or is_about("pasted", words):
        return ""
    is_asked = heard.kind in {"question", "request", "recall"} or is_about("asks", words)
    if is_asked and texts.topic_in("questions", words)[0]:
        return answer_question(conversation, words)
    topic, answers = texts.topic_in("topics", words)
    if topic == "told":
        return _say_told(conversation)
    if heard.kind == "question" and (topic == "" or is_about("advice", words)):
        return (
            pick(texts.reactions("why"), conversation)
            if is_about("why", words)
            else answer_question(conversation, words)
        )
    if measure_intensity([SaidWords(text=words)]).is_high and topic in _HEAVY:
        return pick(texts.reactions("heavy"), conversation)
    return fresh(answers, conversation)


def _say_told(conversation: Conversation) -> str:
    said = [
        exchange.answer
        for exchange in conversation.exchanges[:-1]
        if not exchange.value
        and hear(exchange.answer).kind == "answer"
        and not search("name", exchange.answer)
    ]
    wanted = _stems(conversation.exchanges[-1].answer)
    near = max(said[-6:], key=lambda text: (len(wanted & _stems(text)), len(text)), default="")
    words = clip(" ".join(near.split()), 240)
    return texts.said("told_before", words=words) if words else texts.said("told_nothing")


def _reaction_to(newest: Exchange, heard: Heard) -> str:
    words = newest.answer
    if is_about("why", words):
        return "why"
    if is_about("dont_know", words) or heard.kind == "later":
        return "unsure"
    if heard.kind == "long" or is_about("pasted", words):
        return "pasted"
    if heard.kind == "correction":
        return "remark"
    if heard.kind == "answer":
        has_asked = newest.question.rstrip().endswith("?") and not texts.stands_in("menu", newest.question)
        return "heard" if has_asked else "miss"
    return heard.kind if texts.reactions(heard.kind) or heard.kind == "foreign" else "miss"


def _hint(conversation: Conversation, kind: str) -> Sequence[str]:
    """Return now and then what else there is to see, each hint once."""
    recent = "\n".join(exchange.question for exchange in conversation.exchanges[-_HINT_EVERY:])
    is_due = kind in _PLAIN and len(conversation.exchanges) >= _HINT_EVERY
    if not is_due or texts.stands_in("hints", recent, "reactions") or texts.stands_in("menu", recent):
        return []
    hint = fresh(texts.reactions("hints"), conversation)
    return [hint] if hint else []
