"""Limits on attempts: for each person, within a time, at the same cost however many people there are."""

import pytest

from coaching.people import attempts
from coaching.people.attempts import AttemptLimit, TooOften

SECONDS = 60.0
PEOPLE = 500


class Clock:
    """A clock in place of the module's, which stands still."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(attempts, "time", clock)
    return clock


class Person(int):
    """A person's id that counts how often it is looked up."""

    lookups = 0

    def __hash__(self) -> int:
        Person.lookups += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


def test_a_person_over_the_limit_waits_until_their_first_attempt_is_old_enough(clock: Clock) -> None:
    limit = AttemptLimit(attempts=2, seconds=SECONDS)
    for _ in range(2):
        assert limit.has_room(1)
        limit.count(1)
    assert not limit.has_room(1)
    with pytest.raises(TooOften) as refused:
        limit.count(1)
    assert refused.value.wait_seconds == SECONDS
    limit.count(2)  # somebody else
    clock.now += SECONDS + 1
    assert limit.has_room(1)
    limit.count(1)


def test_attempts_end_one_by_one_and_refused_ones_do_not_count(clock: Clock) -> None:
    limit = AttemptLimit(attempts=2, seconds=SECONDS)
    limit.count(1)
    clock.now += SECONDS * 0.6
    limit.count(1)
    with pytest.raises(TooOften):
        limit.count(1)
    clock.now += SECONDS * 0.6
    limit.count(1)
    with pytest.raises(TooOften):
        limit.count(1)


def test_a_call_concerns_only_its_person_and_those_who_are_forgotten_once(clock: Clock) -> None:
    limit = AttemptLimit(attempts=2, seconds=SECONDS)
    for number in range(PEOPLE):
        limit.count(Person(number))
    limit.count(Person(0))  # the others are forgotten before
    Person.lookups = 0
    limit.count(Person(PEOPLE))
    assert limit.has_room(Person(PEOPLE))
    assert Person.lookups < 10
    clock.now += SECONDS + 1
    assert all(limit.has_room(Person(number)) for number in range(PEOPLE))
    assert limit._made == {}
