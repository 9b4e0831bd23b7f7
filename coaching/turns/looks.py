"""What a second look reads before it asks, and what it stores afterwards. It asks no model itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from coaching.events import SafetyShown
from coaching.legacy_text.blocks import strip_block_tags
from coaching.people.help_lines import count_card
from coaching.safety.card import kept_danger
from coaching.safety.danger import Danger
from coaching.safety.second_look import EARLIER_MESSAGES
from coaching.transcript.cards import read_card_of_message
from sessions_app.models import Message, MessageRole, SafetyVerdict
from sessions_app.titles import withhold_title
from sessions_app.usage import read_tokens_of_day
from sessions_app.verdicts import SEEN, NewVerdict, is_more_acute, store_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A message to look at, and the user's words before it."""

    message_id: int
    session_id: UUID
    user_id: int
    words: str
    earlier: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """How a look ended. Without a request `model` is empty; `usage_id` is that of an answer."""

    outcome: str
    danger: Danger | None = None
    model: str = ""
    milliseconds: int = 0
    usage_id: int | None = None


def read_words(turn_id: UUID) -> Looked | None:
    """Return what a look at a turn's message needs; None where nothing is to be asked.

    The card can't become more acute than the rules have made it. A message whose look came to nothing is
    looked at again when it is answered again.
    """
    said = Message.unscoped.filter(turn_id=turn_id, role=MessageRole.USER, turn__is_withdrawn=False)
    message = said.select_related("session").order_by("number").first()
    if message is None or message.metadata.get("is_hidden"):
        return None
    known = kept_danger(message.metadata)
    if known is not None and known.level == "immediate":
        return None
    if SafetyVerdict.unscoped.filter(message=message, looked__in=SEEN).exists():
        return None
    before = Message.within(message.session).filter(role=MessageRole.USER, number__lt=message.number)
    before = before.filter(turn__is_withdrawn=False).exclude(metadata__has_key="is_hidden")
    earlier = before.order_by("-number").values_list("content", flat=True)[:EARLIER_MESSAGES]
    return Looked(
        message_id=message.pk,
        session_id=message.session_id,
        user_id=message.session.user_id,
        words=strip_block_tags(message.content),
        earlier=[strip_block_tags(text) for text in earlier][::-1],
    )


def is_over_budget(user_id: int) -> bool:
    """Return whether the user's tokens of the day are used up: then no look is taken."""
    daily = settings.SAGE_DAILY_TOKENS
    if daily is None:
        return False
    return read_tokens_of_day(user_id=user_id, now=timezone.now(), limit=daily).tokens >= daily


def store_look(looked: Looked, seen: Seen) -> SafetyShown | None:
    """Store how a look ended; return the card if it makes one, or a more acute one, and count a new one."""
    danger = seen.danger
    new = NewVerdict(
        level=danger.level if danger else "none",
        about=danger.about if danger else "self",
        topic=danger.topic if danger else "life",
        looked=seen.outcome,
        model=seen.model,
        milliseconds=seen.milliseconds,
        usage_id=seen.usage_id,
    )
    return note_danger(looked.message_id, new)


def note_danger(message_id: int, new: NewVerdict) -> SafetyShown | None:
    """Store a verdict; return its card where it makes one or a more acute one. A new card is counted."""
    before = Message.unscoped.filter(id=message_id).select_related("safety_verdict").first()
    if before is None or not store_verdict(message_id, new):
        return None
    withhold_title(before)
    known = [kept_danger(before.metadata), before.known_verdict]
    levels = [each.level for each in known if each is not None]
    had_card = any(level != "none" for level in levels)
    if any(not is_more_acute(new.level, level) for level in levels if level != "none"):
        return None
    if not had_card:
        count_card(new.level, now=timezone.now())
    return read_card_of_message(message_id, is_replaced=had_card)
