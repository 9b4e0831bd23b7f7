"""The steps that words request: by a pattern (`requested`), or in words of their own (`asked_for`)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from coaching.practice.coach.asked_for import AskedFor, step_words, topic_of, without_politeness
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in
from coaching.practice.coach.hearing import one_line, wish_in
from coaching.practice.coach.on_list import says
from coaching.practice.coach.plans import MAX_TITLE, TO_DO, Plan, bare_words, on_day, title_of, without_days
from coaching.practice.coach.requested import SENTENCE, requested, steps_in

_CHANGES_MIND = re.compile(
    r"\A\W*(?:\w+\W+){0,2}(?:no|nope|nah|actually|instead|rather|scrap (?:it|that)|forget (?:it|that)"
    r"|nein|nee|nö|doch|lieber|eigentlich|vergiss|mejor|en realidad|olvid\w+)\b",
    re.IGNORECASE,
)
"""How a sentence begins that takes back what was requested before it."""
_AND = re.compile(r",\s+(?:and|und|y)\s+(?:then |dann |luego )?", re.IGNORECASE)
_LISTED = re.compile(r",\s*(?:(?:and|und|y)\s+)?|(?<!\s)\s+(?:and|und|y)\s+", re.IGNORECASE)
_COMMA = re.compile(r",\s*(?:(?:and|und|y)\s+)?", re.IGNORECASE)
_OF_LIST = re.compile(
    r"\b(?:your list|next step|deine[rn]? Liste|nächste[rn]? Schritt|tu lista|próximo paso)\b"
)
"""How the tour says what it does with a step that is said with a day."""
_AND_LED = re.compile(
    r"\A\W*(?:and|und|y)\s((?:[\w']++\s*){1,3}):\s+(\S.{2,120})\Z", re.IGNORECASE | re.DOTALL
)
_ALSO = re.compile(r"\A(?:also|too|auch|noch|tambi[eé]n)\s+", re.IGNORECASE)
_THAT_I = re.compile(r"\bdass i(?:ch)?\b[^\n]{0,160}e\W*\Z", re.IGNORECASE)
"""A request that ends in a German verb of the person's: "dass ich sie anrufe"."""
_TOLD_HOW = 8
"""For so many messages they know it then."""


def asked_plans(conversation: Conversation, asked: AskedFor) -> Sequence[Plan]:
    """Return the steps that a sentence asks for in words of its own; none where they name none."""
    wanted = step_words(asked, bare_words(asked.said))
    said = f"{asked.said} {asked.after}" if wanted in asked.after else asked.said
    parts = [each for each in _LISTED.split(wanted) if each.strip()] if says("several", said) else [wanted]
    plans = [_as_requested(conversation, each, said) for each in parts if title_of(TO_DO.sub("", each))]
    return [each if each.quote in said else replace(each, quote=asked.said) for each in plans]


def requested_plans(conversation: Conversation, words: str, *, is_more: bool = False) -> Sequence[Plan]:
    """Return the steps that words plainly request, each on a day if they name one.

    "First one is …" and "next: …" request one, too, once the tour has said how a step is noted; `is_more`:
    so does "and milk, too".
    """
    if steps := steps_in(words):
        kept = _after_change_of_mind(words)
        steps = [each for each in steps if each[1] in kept]
        plans = [plan for wanted, said in steps for plan in _requested_together(conversation, wanted, said)]
        return [*plans, *on_other_days(conversation, words)]
    if is_more and not ("?" in words or says("asks_first", words)) and (more := requested("too", words)):
        return [_as_requested(conversation, more, words)]
    is_told_how = any(_OF_LIST.search(each.question) for each in conversation.exchanges[-_TOLD_HOW:])
    listed = requested("item", words) if is_told_how else ""
    first, *others = _AND.split(next(iter(SENTENCE.findall(listed)), ""))
    parts = [first, *others] if all(len(each.split()) > 1 for each in others) else [listed]
    return [_as_requested(conversation, each, each) for each in parts if each.strip()]


def _after_change_of_mind(words: str) -> str:
    """Return what follows the last request that takes back those before it: "actually no: close my day"."""
    sentences = SENTENCE.findall(words)
    for at in range(len(sentences) - 1, 0, -1):
        is_wanted = (
            requested("step", sentences[at]) or wish_in(sentences[at].strip()) or topic_of(sentences[at])
        )
        if is_wanted and _CHANGES_MIND.match(sentences[at]):
            return "".join(sentences[at:])
    return words


def on_other_days(conversation: Conversation, words: str) -> Sequence[Plan]:
    """Return the steps that follow a request by their days alone: "and Friday: pay the tax"."""
    led = [(each, _AND_LED.match(each)) for each in SENTENCE.findall(words)[1:]]
    dated = [(each, found[2]) for each, found in led if found and any(days_in(found[1], None))]
    return [_as_requested(conversation, wanted, said) for said, wanted in dated]


def _requested_together(conversation: Conversation, wanted: str, said: str) -> Sequence[Plan]:
    first = next(iter(SENTENCE.findall(wanted)), wanted)
    parts = _parts(first, said)
    return [_as_requested(conversation, each, each if len(parts) > 1 else said) for each in parts]


def _parts(wanted: str, said: str) -> Sequence[str]:
    """Return the steps that are requested together: as many are counted, or each has its day."""
    pattern = _LISTED if says("several", said) else _COMMA
    parts = [each for each in pattern.split(wanted) if each.strip()]
    is_each = pattern is _LISTED or all(any(days_in(each, None)) for each in parts)
    return parts if is_each else [wanted]


def _as_requested(conversation: Conversation, wanted: str, said: str) -> Plan:
    own = without_politeness(_ALSO.sub("", without_days(wanted).strip()))
    title = title_of(TO_DO.sub("", own)) or one_line(wanted, MAX_TITLE)
    title += "n" if _THAT_I.search(said) and title.endswith("e") else ""
    return on_day(conversation, Plan(title=title, quote=wanted.strip(), is_requested=True), said)
