"""The short forms of the faults that one process survives alone."""

import pytest

from tests.faults import alternatives, crashes, openings, random_turns, readers
from tests.faults.cluster import Cluster

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_killed_process_loses_nothing_wherever_its_turns_stood(
    lone_cluster: Cluster, seed: int
) -> None:
    report = await crashes.run_r1(lone_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_who_loses_the_connection_anywhere_comes_back_to_the_same_words(
    lone_cluster: Cluster, seed: int
) -> None:
    report = await readers.run_r6(lone_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_stop_means_stop_wherever_the_turn_stands(lone_cluster: Cluster, seed: int) -> None:
    report = await readers.run_r12(lone_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_whatever_people_and_the_model_do_while_the_process_dies_every_invariant_holds(
    lone_cluster: Cluster, seed: int
) -> None:
    report = await random_turns.run_random_turns(lone_cluster, seed=seed, points=40)
    assert report.violations == []
    assert report.facts["kills"] >= 2


async def test_whatever_people_do_while_sage_speaks_first_there_is_one_opening_at_one_cost(
    lone_cluster: Cluster, seed: int
) -> None:
    report = await openings.run_openings(lone_cluster, seed=seed, points=len(openings.ACTIONS))
    assert report.violations == []
    assert report.points == len(openings.ACTIONS)
    assert set(openings.ACTIONS) <= set(report.facts)


async def test_the_notes_of_an_opening_without_words_are_withdrawn_with_it(lone_cluster: Cluster) -> None:
    report = await openings.run_wordless(lone_cluster)
    assert report.violations == []
    assert (report.points, report.facts["notes"]) == (1, 1)


async def test_whatever_people_do_while_a_message_is_answered_again_no_answer_is_lost(
    lone_cluster: Cluster, seed: int
) -> None:
    report = await alternatives.run_alternatives(lone_cluster, seed=seed, points=8)
    assert report.violations == []
    assert report.points == 8
    assert set(alternatives.ACTIONS) <= set(report.facts) | {"kill"}
    assert report.facts["kills"] >= 2
