"""The section about danger that is remembered.

It stands in the opening and names dates alone, so it is the same from one day to the next; on which days the
model asks is in `care_parts`.
"""

import uuid
from collections.abc import Iterator
from datetime import timedelta

from coaching.care.standing import Care, SaidDanger
from coaching.clock.days import with_weekday
from coaching.context.entries import Entry, Section

CARE = "care"
KEPT_WHOLE = 10.0
"""The weight of its text, so that anything else is shortened first."""

_OWN_RULE = (
    "Until {until}: be gentle. Offer no arc, deep dive or check-in unless they ask for it. Don't bring "
    "this up by yourself: on the days on which you ask about it, a section of this name says so. What "
    "they say of it, follow."
)
_OTHERS_RULE = (
    "Don't bring this up by yourself: on the day on which you ask about it, a section of this name says "
    "so. What they say of it, follow."
)


def care_section(care: Care, *, session_id: uuid.UUID) -> Section | None:
    """Show what is remembered, without what the conversation itself shows."""
    lines = [line for danger in (care.own, care.other) if danger for line in _lines(danger, session_id)]
    if not lines:
        return None
    if care.own is not None:
        until = with_weekday(care.own.day + timedelta(days=care.own.days))
        lines.append(_OWN_RULE.format(until=until))
    else:
        lines.append(_OTHERS_RULE)
    entry = Entry(tag="", attributes={}, text="\n".join(lines), weight=KEPT_WHOLE)
    return Section(name=CARE, attributes={}, entries=(entry,))


def _lines(danger: SaidDanger, session_id: uuid.UUID) -> Iterator[str]:
    yield f"{with_weekday(danger.day)}: {danger_in_words(danger)}, in their own words."
    if danger.is_imported:
        yield "It was in another program, whose conversation they have imported."
    elif danger.place is not None and danger.place.session_id != session_id and danger.was_last is not None:
        yield (
            "It was the last thing that they wrote in that conversation."
            if danger.was_last
            else "They went on writing in that conversation."
        )


def danger_in_words(danger: SaidDanger) -> str:
    """Return what it was, without the words themselves."""
    whose = "themselves" if danger.about == "self" else "somebody else"
    if danger.topic == "violence":
        whose = "them" if danger.about == "self" else whose
        return f"violence, which may be a danger to {whose}"
    return (
        f"danger to {whose} that may be acute"
        if danger.level == "immediate"
        else f"possible danger to {whose}"
    )
