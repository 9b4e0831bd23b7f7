"""Refusals that wait: sent in order, spread over rounds, and bounded for one program and for all."""

from contextlib import suppress

from twisted.internet.task import Clock

from sage.held_refusals import MAX_HELD, MAX_IN_ROUND, MAX_OF_ONE, ROUND_SECONDS, HeldRefusals

ONE, OTHER = b"one", b"other"


class Rounds:
    """What was sent, by round."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.held = HeldRefusals(self.clock)
        self.sent: list[int] = []

    def hold(self, number: int, *, by: bytes = ONE, seconds: float = 1.0) -> bool:
        return self.held.hold(by, lambda: self.sent.append(number), seconds=seconds) is not None

    def pass_time(self, seconds: float) -> list[int]:
        """Let time pass; return what was sent meanwhile."""
        before = len(self.sent)
        self.clock.advance(seconds)
        return self.sent[before:]


def test_refusals_that_are_due_at_once_are_sent_in_their_order_a_few_in_each_round() -> None:
    rounds = Rounds()
    assert all(rounds.hold(number) for number in range(25))
    assert rounds.pass_time(0.99) == []
    assert rounds.pass_time(0.01) == list(range(MAX_IN_ROUND))
    assert rounds.pass_time(ROUND_SECONDS / 2) == [], "the loop does other things between rounds"
    assert rounds.pass_time(ROUND_SECONDS / 2) == list(range(MAX_IN_ROUND, 2 * MAX_IN_ROUND))
    assert rounds.pass_time(ROUND_SECONDS) == list(range(2 * MAX_IN_ROUND, 25))
    assert not rounds.clock.getDelayedCalls(), "no round without a refusal"


def test_300_a_second_wake_the_loop_fifty_times_a_second_and_none_comes_late() -> None:
    rounds, delays, arrived = Rounds(), list[float](), list[float]()
    sends_of_a_round: list[int] = []
    for number in range(900):
        arrived.append(rounds.clock.seconds())
        assert rounds.hold(number)
        if sent := rounds.pass_time(1 / 300):
            sends_of_a_round.append(len(sent))
            delays += [rounds.clock.seconds() - arrived[each] for each in sent]
    assert len(delays) > 500
    assert min(delays) >= 1.0
    assert max(delays) <= 1.0 + 2 * ROUND_SECONDS
    assert max(sends_of_a_round) <= MAX_IN_ROUND
    assert len(sends_of_a_round) <= 2 / ROUND_SECONDS + 1, "of the two seconds in which some were due"


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
        held = rounds.held.hold(ONE, lambda number=number: rounds.sent.append(number), seconds=1)  # type: ignore[misc]
        assert held
        rounds.held.give_up(held)
        assert held.send is None, "its request is free"
    assert not rounds.hold(1)
    assert rounds.pass_time(0.99) == []
    for _ in range(MAX_OF_ONE // MAX_IN_ROUND + 1):
        assert rounds.pass_time(ROUND_SECONDS) == []
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
    assert rounds.pass_time(ROUND_SECONDS) == [2]
    assert rounds.pass_time(1) == [1]
    assert not rounds.clock.getDelayedCalls()
