"""What was given in a walk so far, and what is open."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from coaching.practice.coach.hearing import Heard
from coaching.practice.coach.tables import Given, Slot, Walk


@dataclass(slots=True)
class State:
    """A walk's state. `given` has all values, `settled` the slots that needn't be asked.

    `which` is a correction that may replace one of several items. `is_in_danger` holds until the person says
    that they are safe. While the walk `rests`, nothing is asked. `is_grave`: something hard was told, or no
    questions were wanted, so nothing that is said meanwhile is an answer. `put` has the slots that were asked
    for, `refused` those to which words were put that didn't fit; `missed` counts the questions in a row that
    got no answer. `wanted` is the slot that the person would rather talk about. `is_unrated`: they want no
    ratings. `unheard` has the words that were put to the last question and weren't taken for an answer.
    """

    walk: Walk
    given: dict[str, Given] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    was_asked: bool = False
    last: str = ""
    heard: Heard | None = None
    which: Heard | None = None
    confirmed_at: int = 0
    given_up_at: int = 0
    is_picking: bool = False
    is_in_danger: bool = False
    rests: bool = False
    is_grave: bool = False
    missed: int = 0
    put: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    wanted: str = ""
    is_unrated: bool = False
    unheard: str = ""

    @property
    def changed_at(self) -> int:
        return max((given.at for given in self.given.values()), default=0)

    @property
    def open_slot(self) -> Slot | None:
        slots = [s for s in self.walk.slots if s.name not in self.settled and s.is_wanted(self.given)]
        return next((s for s in slots if s.name == self.wanted), slots[0] if slots else None)


def changeable(state: State) -> Sequence[Slot]:
    return [slot for slot in state.walk.slots if slot.name in state.given and slot.kind != "pulse"]


def settle(state: State, slot: Slot, given: Given) -> None:
    """Take what was given for a slot, which then needn't be asked for."""
    before = state.given.get(slot.name)
    if not (given.is_later and before is not None):  # "later" after a second question keeps what was given
        state.given[slot.name] = given
        if not given.is_later:
            state.last = slot.name
    state.settled.add(slot.name)
