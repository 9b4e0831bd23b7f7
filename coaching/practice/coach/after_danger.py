"""What the tour does in the days after danger: it asks when it is told to, and offers nothing."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.asides import answer_question, in_both_languages
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.hearing import Heard, hear
from coaching.practice.coach.wordings import choose
from coaching.safety.card import danger_in
from coaching.safety.no_more import wants_no_more_questions

_CARE = r"\n((?:[^\n<]++|\n(?!</care>)|<(?!care\b))*+)\n</care>"
_ASKED = re.compile(rf'^<care ask="now">{_CARE}', re.MULTILINE)
_DAY = re.compile(r"\bOn (\w+ \d{4}-\d\d-\d\d)\b")
_STANDING = re.compile(rf"^<care>{_CARE}", re.MULTILINE)
_QUESTIONS = {
    "killing themselves": "care_dying",
    "safe today": "care_safe",
    "that person": "care_other",
    "as dark": "care_dark",
}
"""The tour's question by words of the request to ask."""
_STILL = re.compile(
    r"\b(?:still|sometimes|often|worse|every (?:day|night)|all the time|a (?:bit|little)|kind of"
    r"|i (?:am|do|think so)|immer noch|manchmal|oft|jede nacht|jeden tag"
    r"|todavía|sigue|a veces|cada (?:noche|día))\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no|not|n't|never|without|gone|over|better|fine|all right|alright|okay|ok"
    r"|nicht|nie|weg|vorbei|besser|gut|nunca|ya|mejor|bien)\b",
    re.IGNORECASE,
)


def question_due(conversation: Conversation) -> str:
    """Return the question that this answer asks first, or nothing."""
    found = _ASKED.search(conversation.newest_as_sent)
    if found is None:
        return ""
    name = next((name for words, name in _QUESTIONS.items() if words in found[1]), "care_dark")
    day = _DAY.search(found[1])
    return f"{texts.said('care_lead', day=day[1] if day else texts.said('care_day'))} {texts.said(name)}"


def was_asked(exchange: Exchange) -> bool:
    """Return whether an exchange answers such a question."""
    return any(texts.stands_in(name, exchange.question) for name in _QUESTIONS.values())


def is_still_there(exchange: Exchange) -> bool:
    """Return whether the answer to such a question says that it is still there."""
    if not was_asked(exchange) or texts.stands_in("care_other", exchange.question):
        return False
    answer = exchange.answer.replace("’", "'")
    if texts.stands_in("care_safe", exchange.question):
        return (
            bool(danger_in(answer))
            or hear(answer).kind == "no"
            or bool(re.match(r"\W*(?:no|nein)\b", answer, re.IGNORECASE))
        )
    return says_yes(answer)


def says_yes(answer: str) -> bool:
    """Return whether an answer says that something dark is there."""
    is_yes = hear(answer).kind == "yes" or bool(re.match(r"\W*(?:yes|ja|sí)\b", answer, re.IGNORECASE))
    return is_yes or (bool(_STILL.search(answer)) and not _NOT.search(answer))


def words_after(conversation: Conversation) -> str:
    """Return what the tour says to the newest words, if they answer such a question; else nothing."""
    newest = conversation.newest
    if newest is None or not was_asked(newest) or conversation.part_calls:
        return ""
    if wants_no_more_questions(newest.answer):
        return texts.said("care_no_more")
    return texts.said("care_thanks")


def is_at_rest(conversation: Conversation) -> bool:
    """Return whether nothing is offered unasked."""
    standing = [found for text in conversation.context_texts for found in _STANDING.findall(text)]
    return bool(standing) and "Offer no arc" in standing[-1]


def words_at_rest(conversation: Conversation, newest: Exchange, heard: Heard) -> Sequence[str]:
    """Return an answer that offers nothing."""
    told = {
        "question": lambda: answer_question(conversation, newest.answer),
        "foreign": lambda: in_both_languages(heard),
        "answer": lambda: choose(conversation, "felt", "after"),
        "remark": lambda: choose(conversation, "felt", "after"),
        "thanks": lambda: choose(conversation, "thanks"),
    }.get(heard.kind, lambda: "")()
    is_again = bool(told) and any(
        texts.stands_in("care_here", each.question) for each in conversation.exchanges
    )
    return [told, "" if is_again else texts.said("care_here")]
