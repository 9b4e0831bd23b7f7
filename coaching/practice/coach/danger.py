"""What the tour says to words that sound like danger: it points to people, and waits.

Where nothing names a danger and only weights suggest one, it asks once, and the next words decide.
"""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.after_danger import is_still_there, says_yes
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.hearing import hear
from coaching.practice.coach.replay import is_safe
from coaching.practice.coach.talk import answer_questions
from coaching.practice.coach.walking import say
from coaching.practice.script import Reply, ToolUse
from coaching.safety.card import danger_in
from coaching.safety.lines import Line, shipped_offer

MAX_HELP_LINES = 5
_SHORT_ANSWER = 4
_YES = re.compile(r"\W*(?:yes|ja|sí)\b", re.IGNORECASE)
_SUGGESTED = "suggested"
"""The level of words that name no danger."""


def is_in_danger(conversation: Conversation) -> bool:
    """Return whether words sounded like danger.

    Immediate danger lasts until the person says that they're safe, anything else until they write again.
    """
    is_open = is_immediate = False
    for exchange in conversation.exchanges:
        if (level := _level_of(exchange)) and level != _SUGGESTED:
            is_open, is_immediate = True, is_immediate or level == "immediate"
        elif not is_immediate or is_safe(exchange.answer):
            is_open = is_immediate = False
    return is_open


def answer_danger(conversation: Conversation) -> Reply | None:
    """Point to help; ask about immediate danger that the newest words only suggest; None without either."""
    if is_in_danger(conversation):
        return point_to_help(conversation)
    if _suggested_level(conversation) != "immediate":
        return None
    heard = answer_questions(conversation) or texts.answers("felt")[0]
    return say(heard, texts.said("help_maybe"))


def line_of_help(conversation: Conversation) -> str:
    """Return a line for the end of the answer to words that only suggest a concern; nothing for others."""
    return texts.said("help_hint") if _suggested_level(conversation) == "concern" else ""


def _suggested_level(conversation: Conversation) -> str:
    """Return the level of danger that the newest words only suggest, or nothing.

    The tour speaks of it once in a conversation; the page shows its card in any case.
    """
    newest = conversation.newest
    said = [exchange.question for exchange in conversation.exchanges]
    has_spoken = any(texts.stands_in(name, each) for name in ("help_maybe", "help_hint") for each in said)
    if newest is None or _level_of(newest) != _SUGGESTED or has_spoken:
        return ""
    found = danger_in(newest.answer)
    return found.level if found else ""


def denies_danger(conversation: Conversation) -> bool:
    """Return whether the newest words say no to the tour's question."""
    newest = conversation.newest
    return newest is not None and was_asked_about_danger(newest) and hear(newest.answer).kind == "no"


def was_asked_about_danger(exchange: Exchange) -> bool:
    return texts.stands_in("help_maybe", exchange.question)


def point_to_help(conversation: Conversation) -> Reply:
    """Point to help lines; show their card where the tool is offered and the page hasn't shown it."""
    section = conversation.section("help_lines")
    shown = next((c for c in conversation.part_calls if c.name == "show_help_lines"), None)
    is_immediate = any(_level_of(exchange) == "immediate" for exchange in conversation.exchanges)
    if shown is None and "show_help_lines" in conversation.tools and 'shown="yes"' not in section:
        reason = "immediate" if is_immediate else "concern"
        return Reply.of(ToolUse("show_help_lines", {"reason": reason}))
    noted = [line[2:] for line in section.splitlines() if line.startswith("- ")]
    found = noted or (shown.values.get("lines") if shown else None) or map(_in_words, shipped_offer().lines)
    lines = "\n".join(f"- {line}" for line in list(found)[:MAX_HELP_LINES])
    if not is_immediate:
        return say(texts.said("help_concern"), lines)
    is_again = any(texts.stands_in("safe", exchange.question) for exchange in conversation.exchanges[-1:])
    return say(texts.said("help_stay") if is_again else texts.said("help_first"), lines, texts.said("safe"))


def _level_of(exchange: Exchange) -> str:
    """Return the level of danger that an answer names or only suggests, or nothing.

    What suggests it right after the tour has asked about it is no longer a suggestion.
    """
    if exchange.value:
        return ""
    has_asked = was_asked_about_danger(exchange)
    if found := danger_in(exchange.answer):
        return ("concern" if has_asked else _SUGGESTED) if found.is_weighed else found.level
    return "immediate" if is_still_there(exchange) or (has_asked and _agrees(exchange.answer)) else ""


def _agrees(answer: str) -> bool:
    """Return whether an answer to the tour's question begins with a yes, or is short and means one."""
    is_short = len(answer.split()) <= _SHORT_ANSWER
    return bool(_YES.match(answer)) or (is_short and says_yes(answer))


def _in_words(line: Line) -> str:
    return " · ".join(filter(None, (line.name, line.phone, line.text, line.site)))
