"""The card beside words of danger: what a message's metadata keeps of it, and what a reader is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coaching.safety.danger import Danger, find_danger
from coaching.safety.lines import Offer
from coaching.safety.readable import MAX_CHARACTERS

METADATA_KEY = "safety"
_LEVELS = ("immediate", "concern")
_ABOUT = ("self", "other")
_TOPICS = ("life", "violence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card of a conversation; `key` tells the cards of its page apart."""

    key: str
    session_id: str
    danger: Danger
    offer: Offer


def metadata_of(words: object) -> dict[str, Any]:
    """Return what is kept beside words: how near a danger is, whose and of what kind; else nothing.

    `words` is a text, or an answer to a question: a text, or values with a `note`.
    """
    return metadata_of_danger(danger_in(words))


def metadata_of_danger(danger: Danger | None) -> dict[str, Any]:
    """Return what is kept of a danger that was noticed; nothing where there is none."""
    if danger is None:
        return {}
    return {METADATA_KEY: {"level": danger.level, "about": danger.about, "topic": danger.topic}}


def danger_in(words: object) -> Danger | None:
    """Return the danger that a text, or the words of an answer, speak of."""
    if isinstance(words, Mapping):
        words = words.get("note")
    if not isinstance(words, str):
        return None
    # Too long to be sent, and yet a letter: its end says as much as its beginning.
    return find_danger(words) or (find_danger(words[-MAX_CHARACTERS:]) if words[MAX_CHARACTERS:] else None)


def kept_danger(metadata: Mapping[str, Any]) -> Danger | None:
    """Return the danger that was noticed of a stored message or answer; what isn't as expected is none."""
    kept = metadata.get(METADATA_KEY)
    if not isinstance(kept, Mapping):
        return None
    level, about, topic = kept.get("level"), kept.get("about"), kept.get("topic")
    if level not in _LEVELS or about not in _ABOUT or topic not in _TOPICS:
        return None
    return Danger(level=level, about=about, topic=topic)
