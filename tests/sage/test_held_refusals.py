"""Refusals that wait: sent in order, spread over rounds, and bounded for one program and for all."""

from contextlib import suppress
from functools import partial

from twisted.internet.task import Clock

from sage.held_refusals import MAX_HELD, MAX_IN_ROUND, MAX_OF_ONE, PAUSE_SECONDS, HeldRefusals

ONE, OTHER = b"one", b"other"


class Loop(Clock):
    """A clock that runs calls as the reactor does: what one of them plans for now comes in the next round."""

    def advance(self, amount: float) -> None:
        self.rightNow += amount
        for call in [each for each in self.calls if each.getTime() <= self.rightNow]:
            self.calls.remove(call)
            call.called = 1
            call.func(*call.args, **call.kw)


class Rounds:
    """What was sent."""

    def __init__(self) -> None:
        self.clock = Loop()
        self.held = HeldRefusals(self.clock)
        self.sent: list[int] = []

    def hold(self, number: int, *, by: bytes = ONE, seconds: float = 1.0) -> bool:
        return self.held.hold(by, lambda: self.sent.append(number), seconds=seconds) is not None

    def pass_time(self, seconds: float) -> list[int]:
        """Let time pass until a round of the loop; return what was sent in it."""
        before = len(self.sent)
        self.clock.advance(seconds)
        return self.sent[before:]


def test_refusals_that_are_due_at_once_are_sent_in_their_order_a_few_in_each_round() -> None:
    rounds, most = Rounds(), MAX_IN_ROUND
    assert all(rounds.hold(number) for number in range(2 * most + 1))
    assert rounds.pass_time(0.99) == []
    assert rounds.pass_time(0.01) == list(range(most)), "the loop does other things between rounds"
    assert rounds.pass_time(0) == list(range(most, 2 * most)), "in the next round"
    assert rounds.pass_time(0) == [2 * most]
    assert not rounds.clock.getDelayedCalls(), "no round without a refusal"


def test_those_of_a_flood_are_sent_several_at_once_and_none_comes_late() -> None:
    rounds, delays, arrived = Rounds(), list[float](), list[float]()
    wakes = 0
    for number in range(900):
        arrived.append(rounds.clock.seconds())
        assert rounds.hold(number)
        if sent := rounds.pass_time(1 / 300):
            wakes += 1
            assert len(sent) <= MAX_IN_ROUND
            delays += [rounds.clock.seconds() - arrived[each] for each in sent]
    assert len(delays) > 580
    assert min(delays) >= 1.0
    assert max(delays) <= 1.0 + 2 * PAUSE_SECONDS
    assert wakes <= 2 * len(delays) / 5, "several at once"


def test_a_loop_that_is_late_sends_what_is_due_in_its_next_rounds() -> None:
    """Else those of a busy process would come later and later."""
    rounds = Rounds()
    for number in range(300):
        assert rounds.hold(number)
        rounds.clock.advance(1 / 300)
    sent = rounds.pass_time(1)
    while more := rounds.pass_time(0):
        sent += more
    assert len(sent) >= 299


def test_one_that_is_due_sooner_is_sent_first() -> None:
    rounds = Rounds()
    assert rounds.hold(1, seconds=60)
    assert rounds.hold(2, seconds=2)
    assert rounds.pass_time(2) == [2]
    assert rounds.pass_time(58) == [1]


def test_one_program_has_so_many_places_and_leaves_the_others_to_others() -> None:
    rounds = Rounds()
    taken = [rounds.hold(number) for number in range(MAX_OF_ONE + 1)]
    assert taken == [True] * MAX_OF_ONE + [False]
    assert rounds.hold(1, by=OTHER)
    assert sum(rounds.hold(1, by=b"%d" % number) for number in range(MAX_HELD)) == MAX_HELD - MAX_OF_ONE - 1
    rounds.pass_time(1)
    assert rounds.hold(1), "those that were sent leave their places"


def test_one_that_is_given_up_is_not_sent_and_keeps_its_place_until_it_was_due() -> None:
    """Else a program that connects, sends and goes would have more of them than it may."""
    rounds = Rounds()
    for number in range(MAX_OF_ONE):
        held = rounds.held.hold(ONE, partial(rounds.sent.append, number), seconds=1)
        assert held
        rounds.held.give_up(held)
        assert held.send is None, "its request is free"
    assert not rounds.hold(1)
    assert rounds.pass_time(0.99) == []
    for _ in range(MAX_OF_ONE // MAX_IN_ROUND + 1):
        assert rounds.pass_time(0.01) == []
    assert rounds.hold(1)


def test_one_that_has_the_next_held_or_fails_ends_no_rounds() -> None:
    rounds = Rounds()

    def send_and_hold() -> None:
        rounds.hold(1)
        raise ConnectionError

    assert rounds.held.hold(ONE, send_and_hold, seconds=1)
    assert rounds.hold(2)
    with suppress(ConnectionError):  # Twisted would log it
        rounds.clock.advance(1)
    assert rounds.pass_time(0) == [2]
    assert rounds.pass_time(1) == [1]
    assert not rounds.clock.getDelayedCalls()
