"""The safety card: what a message's metadata stores, and what a reader is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, cast

from coaching.safety.danger import Danger
from coaching.safety.known_texts import find_danger_once
from coaching.safety.lines import Offer
from coaching.safety.phrases import About, Level, Topic
from coaching.safety.plan_lines import PlanExcerpt
from coaching.safety.readable import MAX_CHARACTERS

METADATA_KEY = "safety"
ELSEWHERE_KEY = "danger_elsewhere"
"""In an imported message's metadata: the danger in words that another program has answered.

Earlier imports stored its level alone.
"""
RECENT = timedelta(days=14)
"""How long such words count."""
_LEVELS = ("immediate", "concern")
_ABOUT = ("self", "other")
_TOPICS = ("life", "violence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card of a conversation; `key` is unique on its page.

    `plan` is of the person's own safety plan, on cards for danger to themself. `is_foreign`: nothing in their
    own words gave it, and Sage had read texts of others.
    """

    key: str
    session_id: str
    danger: Danger
    offer: Offer
    plan: PlanExcerpt | None = None
    is_foreign: bool = False


def metadata_of(words: object) -> dict[str, Any]:
    """Return the metadata for a text or an answer (text, or values with a `note`); empty without danger."""
    return metadata_of_danger(danger_in(words))


def metadata_of_danger(danger: Danger | None) -> dict[str, Any]:
    """Return the metadata for a detected danger, empty for None."""
    return {} if danger is None else {METADATA_KEY: values_of_danger(danger)}


def values_of_danger(danger: Danger) -> dict[str, Any]:
    return {"level": danger.level, "about": danger.about, "topic": danger.topic}


def danger_in(words: object) -> Danger | None:
    if isinstance(words, Mapping):
        words = words.get("note")
    if not isinstance(words, str):
        return None
    # Too long to be sent, so check the beginning and the end.
    found = find_danger_once(words[:MAX_CHARACTERS])
    return found or (find_danger_once(words[-MAX_CHARACTERS:]) if words[MAX_CHARACTERS:] else None)


class Verdict(Protocol):
    level: str
    about: str
    topic: str


def known_danger(metadata: Mapping[str, Any], verdict: Verdict | None) -> Danger | None:
    """Return the most acute danger known of a message: the rules' or a verdict's."""
    kept = kept_danger(metadata)
    if verdict is None:
        return kept
    seen = danger_of(verdict.level, verdict.about, verdict.topic)
    found = [danger for danger in (seen, kept) if danger is not None]
    return min(found, key=lambda danger: _LEVELS.index(danger.level), default=None)


def kept_danger(metadata: Mapping[str, Any]) -> Danger | None:
    """Return the danger stored with a message or answer; invalid metadata counts as none."""
    return _danger_in_values(metadata.get(METADATA_KEY))


def danger_elsewhere(metadata: Mapping[str, Any]) -> Danger | None:
    """Return the danger that was said in another program, as an import has marked it."""
    marked = metadata.get(ELSEWHERE_KEY)
    values = {"level": marked, "about": "self", "topic": "life"} if isinstance(marked, str) else marked
    return _danger_in_values(values)


def _danger_in_values(values: object) -> Danger | None:
    if not isinstance(values, Mapping):
        return None
    return danger_of(values.get("level"), values.get("about"), values.get("topic"))


def danger_of(level: object, about: object, topic: object) -> Danger | None:
    """Return the danger with stored values; invalid ones count as none."""
    if level not in _LEVELS or about not in _ABOUT or topic not in _TOPICS:
        return None
    return Danger(level=cast("Level", level), about=cast("About", about), topic=cast("Topic", topic))
