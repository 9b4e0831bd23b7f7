"""What the tour says to words that sound like danger: it points to people, and waits."""

from coaching.practice.coach import texts
from coaching.practice.coach.after_danger import is_still_there
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.replay import is_safe
from coaching.practice.coach.walking import say
from coaching.practice.script import Reply, ToolUse
from coaching.safety.card import danger_in
from coaching.safety.lines import Line, shipped_offer

MAX_HELP_LINES = 5


def is_in_danger(conversation: Conversation) -> bool:
    """Return whether words sounded like danger.

    Immediate danger lasts until the person says that they're safe, anything else until they write again.
    """
    is_open = is_immediate = False
    for exchange in conversation.exchanges:
        if level := _level_of(exchange):
            is_open, is_immediate = True, is_immediate or level == "immediate"
        elif not is_immediate or is_safe(exchange.answer):
            is_open = is_immediate = False
    return is_open


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
    """Return the level of danger that an answer names, or nothing."""
    found = None if exchange.value else danger_in(exchange.answer)
    if found is not None:
        return found.level
    return "immediate" if not exchange.value and is_still_there(exchange) else ""


def _in_words(line: Line) -> str:
    return " · ".join(filter(None, (line.name, line.phone, line.text, line.site)))
