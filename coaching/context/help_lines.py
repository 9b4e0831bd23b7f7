"""Danger that was noticed, as the model is told of it: the level, and the lines that the page shows.

It is told once, with the newest message: what a second look sees after the request has gone is told with
the next one, and nothing that was sent changes.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import DatabaseError, transaction

from coaching.context.fences import fence_value
from coaching.context.opening import sections_said_with
from coaching.context.statement import StatementPart
from coaching.files.safety_plans import PLAN_PATH, has_plan
from coaching.models import Profile
from coaching.people.help_lines import country_of, read_offer
from coaching.safety.card import RECENT, danger_elsewhere, known_danger
from coaching.safety.danger import Danger
from coaching.safety.intensity import MESSAGES_LOOKED_AT, SaidWords
from coaching.safety.lines import Line, Offer, shipped_offer
from sessions_app.models import Message, MessageRole

HELP_LINES = "help_lines"
MAX_LINES = 5


def spoken_in(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages that the user wrote."""
    return [
        message
        for message in messages
        if message.role == MessageRole.USER and not message.metadata.get("is_hidden")
    ]


def danger_of(message: Message) -> Danger | None:
    """Return the danger that is known of a message: by the rules, a second look, or Sage."""
    return known_danger(message.metadata, message.known_verdict)


def is_danger_elsewhere(message: Message, *, now: datetime) -> bool:
    """Return whether it holds words of danger that were said in another program a few days ago."""
    return danger_elsewhere(message.metadata) is not None and now - message.created_at <= RECENT


def is_any_in_danger(messages: Sequence[Message], *, now: datetime) -> bool:
    """Return whether danger was noticed in one of the user's last messages."""
    recent = spoken_in(messages)[-MESSAGES_LOOKED_AT:]
    return any(danger_of(each) or is_danger_elsewhere(each, now=now) for each in recent)


def recent_words(messages: Sequence[Message], *, danger_tool: str, now: datetime) -> Sequence[SaidWords]:
    """Return the last words; danger that hasn't been told counts as the newest's: it needs the same care."""
    spoken = spoken_in(messages)[-MESSAGES_LOOKED_AT:]
    is_untold = untold_danger(messages, danger_tool=danger_tool) is not None
    is_untold = is_untold or any(is_danger_elsewhere(message, now=now) for message in spoken)
    return [
        SaidWords(
            message.content, is_danger=danger_of(message) is not None or (is_untold and message is spoken[-1])
        )
        for message in spoken
    ]


def untold_danger(messages: Sequence[Message], *, danger_tool: str) -> Message | None:
    """Return the newest message with danger, unless the model was told of it or noticed it itself.

    It calls `danger_tool` where it notices danger.
    """
    in_danger = [message for message in spoken_in(messages) if danger_of(message)]
    if not in_danger:
        return None
    newest = in_danger[-1]
    key = _key(newest)
    # What was sent with the last message is written anew, where it is answered again.
    later = [message for message in messages[:-1] if message.number >= newest.number]
    is_told = any(sections_said_with(each).get(HELP_LINES) == key for each in later)
    calls = [call for each in later for call in each.metadata.get("tool_calls") or ()]
    is_noticed = any(call.get("name") == danger_tool for call in calls)
    return None if is_told or is_noticed else newest


def _key(message: Message) -> str:
    danger = danger_of(message)
    return f"{message.number} {danger.level if danger else 'none'}"


def help_lines_part(message: Message, *, newest: Message, profile: Profile) -> StatementPart:
    """Return the section about a message with danger, for the request that `newest` opens."""
    danger = danger_of(message)
    offer = _read_offer(profile, danger)
    when = "the message below" if message.number == newest.number else "an earlier message"
    noticed = "danger that may be acute" if danger and danger.level == "immediate" else "possible danger"
    whose = "somebody else" if danger and danger.about == "other" else "them"
    says = (
        f"In {when}, {noticed} to {whose} was noticed. The page shows them a card with these lines. Take "
        "up the heaviest thing they said, name one line that fits and answers now, and ask directly. Nobody "
        "else was told. The notice may be a mistake."
    )
    if danger and danger.about == "self" and has_plan(user_id=profile.user_id):
        says += f" It also has their own safety plan, closed: read {PLAN_PATH}, and go by it."
    text = "\n".join([says, *(_line(line) for line in offer.lines[:MAX_LINES])])
    country = f' country="{offer.country}"' if offer.country else ""
    return StatementPart(
        key=HELP_LINES,
        digest=_key(message),
        text=f'<{HELP_LINES}{country} shown="yes">\n{text}\n</{HELP_LINES}>',
        must_go=True,
    )


def _read_offer(profile: Profile, danger: Danger | None) -> Offer:
    topic = danger.topic if danger else "life"
    try:
        with transaction.atomic():
            return read_offer(country_of(profile), topic=topic)
    except DatabaseError:
        return shipped_offer(country=country_of(profile), topic=topic)


def _line(line: Line) -> str:
    parts = (line.title, line.phone, line.text, line.hours)
    return f"- {fence_value(' · '.join(part for part in parts if part), 200)}"
