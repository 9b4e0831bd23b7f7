"""Which danger is still remembered on a day, and whether Sage asks about it. Pure arithmetic.

Days are the person's own (`clock.days`): the day of the danger is the one on which they wrote it, in the time
zone that they have now. What has become of a message is decided where the rows are read (`reading`).
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from coaching.safety.phrases import About, Level, Topic

OWN_DAYS = {"immediate": 14, "concern": 7}
"""How many days after it the person's own danger is remembered, by level."""
OTHERS_DAYS = 7
"""The same for danger to somebody else."""
ASKED_AFTER = {"immediate": (1, 3, 7), "concern": (1,)}
"""The days after which Sage asks about the person's own danger; about others' it asks as about a concern."""

EndedHow = Literal["said", "pressed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A message of the person's, by its session and number."""

    session_id: uuid.UUID
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidDanger:
    """Danger in what the person wrote. `place` is None for words outside a conversation.

    `was_last` says whether they wrote nothing after it in that conversation, None where that isn't known.
    """

    level: Level
    about: About
    topic: Topic
    at: datetime
    day: date
    place: Place | None = None
    was_last: bool | None = None
    is_imported: bool = False

    @property
    def days(self) -> int:
        """How many days after its own it is remembered."""
        return OWN_DAYS[self.level] if self.about == "self" else OTHERS_DAYS

    @property
    def asked_after(self) -> Sequence[int]:
        return ASKED_AFTER[self.level if self.about == "self" else "concern"]

    def stands_on(self, today: date) -> bool:
        return (today - self.day).days <= self.days


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A day on which Sage was told to ask, with the message whose answer asks; None for one that is gone.

    `is_unread`: in an opening to which the person hasn't answered, so it counts on its own day only.
    """

    on: date
    about: About
    place: Place | None
    is_unread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The person wants no more questions about what they wrote until then."""

    at: datetime
    on: date
    how: EndedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """What is remembered on a day: the person's own danger, and somebody else's.

    `asked` are the questions that count. `ended`: something that would stand doesn't, since they wanted that;
    `is_ending`: they say so in the message that is answered.
    """

    today: date
    own: SaidDanger | None = None
    other: SaidDanger | None = None
    asked: Sequence[Asked] = field(default=())
    ended: Ended | None = None
    is_ending: bool = False

    @property
    def is_standing(self) -> bool:
        return self.own is not None or self.other is not None

    @property
    def is_remembered(self) -> bool:
        """Whether there was danger lately, also where they want no questions about it."""
        return self.is_standing or self.ended is not None or self.is_ending

    @property
    def holds_offers(self) -> bool:
        """Whether no arc, deep dive or check-in is offered unasked now, and no letter is written."""
        return self.own is not None or self.is_ending

    def to_ask(self, place: Place | None = None) -> SaidDanger | None:
        """Return the danger that the answer to the message at `place` asks about; None where it asks nothing.

        There is at most one question a day. A message that is answered again asks again.
        """
        asked = [each for each in self.asked if place is None or each.place != place]
        if any(each.on == self.today for each in asked):
            return None
        dangers = (danger for danger in (self.own, self.other) if danger is not None)
        return next((danger for danger in dangers if self._is_due(danger, asked)), None)

    def _is_due(self, danger: SaidDanger, asked: Iterable[Asked]) -> bool:
        reached = [days for days in danger.asked_after if days <= (self.today - danger.day).days]
        if not reached:
            return False
        return not any(
            (each.on - danger.day).days >= reached[-1] and each.about == danger.about and not each.is_unread
            for each in asked
        )


def care_on(
    today: date, *, dangers: Iterable[SaidDanger], asked: Sequence[Asked] = (), ended: Ended | None = None
) -> Care:
    """Return what is remembered on `today`.

    The newest danger decides, and starts the days anew; among the person's own one that may be acute comes
    before all others, for as long as it is remembered.
    """
    recent = [danger for danger in dangers if danger.stands_on(today)]
    standing = [danger for danger in recent if ended is None or danger.at > ended.at]
    own = [danger for danger in standing if danger.about == "self"]
    return Care(
        today=today,
        own=_newest([danger for danger in own if danger.level == "immediate"]) or _newest(own),
        other=_newest([danger for danger in standing if danger.about == "other"]),
        asked=asked,
        ended=ended if len(standing) < len(recent) else None,
    )


def _newest(dangers: Sequence[SaidDanger]) -> SaidDanger | None:
    return max(dangers, key=lambda danger: danger.at, default=None)
