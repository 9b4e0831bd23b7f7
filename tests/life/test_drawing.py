"""Chart geometry: within the frame, gaps where there is no rating."""

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from coaching.life.drawing import draw_days, draw_radar, draw_trend

LABELS = ["Career", "Relationships", "Health", "Finances", "Learning", "Creativity", "Play", "Meaning"]
NOTHING = [None] * 8


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def test_all_eight_make_one_closed_shape() -> None:
    radar = draw_radar(LABELS, [5] * 8, [1] * 8)
    assert radar.outline.count("M") == 1
    assert radar.outline.endswith("Z")
    assert radar.outline == radar.area
    assert radar.first != ""
    assert numbers_in(radar.rings[-1])[:2] == [float(radar.spokes[0].x), float(radar.spokes[0].y)]


def test_what_isnt_rated_is_a_gap_and_no_zero() -> None:
    radar = draw_radar(LABELS, [4, 3, None, None, 2, None, None, 5], NOTHING)
    centre = ",".join(radar.centre)
    assert radar.area.count(f"M{centre}") == 2, "between the first two, and from the last round to the first"
    assert radar.outline.count("M") == 2
    assert "Z" not in radar.outline
    assert [spoke.dot is not None for spoke in radar.spokes] == [
        True,
        True,
        False,
        False,
        True,
        False,
        False,
        True,
    ]


def test_nothing_rated_is_nothing_drawn() -> None:
    radar = draw_radar(LABELS, NOTHING, NOTHING)
    assert (radar.area, radar.outline, radar.first) == ("", "", "")


def test_the_first_ratings_are_not_drawn_twice() -> None:
    assert draw_radar(LABELS, [3] * 8, [3] * 8).first == ""


def test_a_single_rating_is_a_dot_at_the_right() -> None:
    trend = draw_trend([4])
    assert trend.line == ""
    assert trend.dots == [(trend.right, trend.dots[0][1])]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_a_trend_stays_inside_its_frame_and_higher_is_better(ratings: list[int]) -> None:
    trend = draw_trend(ratings)
    _, _, width, height = numbers_in(trend.view_box)
    places = [(float(x), float(y)) for x, y in trend.dots]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    for (one, one_place), (other, other_place) in zip(
        zip(ratings, places, strict=True), zip(ratings[1:], places[1:], strict=False), strict=False
    ):
        assert one_place[0] < other_place[0]
        assert (one < other) == (one_place[1] > other_place[1])


@given(st.lists(st.none() | st.integers(1, 5), min_size=8, max_size=8))
def test_a_radar_stays_inside_its_frame(ratings: list[int | None]) -> None:
    radar = draw_radar(LABELS, ratings, ratings[::-1])
    _, _, width, height = numbers_in(radar.view_box)
    for path in (radar.area, radar.outline, radar.first):
        numbers = numbers_in(path)
        assert all(0 <= x <= width for x in numbers[::2])
        assert all(0 <= y <= height for y in numbers[1::2])


def test_days_without_a_word_are_gaps_in_a_chart() -> None:
    levels = [1, 5, *[None] * 10, 3, None]
    chart = draw_days(date(2026, 11, 2), levels, ["x"] * 2 + [""] * 10 + ["x", "odd"])
    assert [chart.line.count(step) for step in "ML"] == [2, 1]
    assert (len(chart.dots), len(chart.others)) == (3, 1)
    assert float(chart.dots[0][1]) > float(chart.dots[1][1]), "higher is further up"
    assert all(0 <= float(x) <= 320 and 0 <= float(y) <= 132 for x, y in [*chart.dots, *chart.others])
    assert draw_days(date(2026, 11, 2), [None], [""]).is_empty


def test_charts_fill_their_width_however_many_the_days_are() -> None:
    first = date(2026, 11, 2)
    one, few, three_weeks, months = (draw_days(first, [3] * days, ["x"] * days) for days in (1, 3, 21, 92))
    assert few.view_box == "0 0 320 112", "there is no row for words without a level"
    for chart in (few, three_weeks, months):
        assert (float(chart.dots[0][0]), float(chart.dots[-1][0])) == (46, 314)
        assert float(chart.right) == 320
    assert [label.begins_month for label in months.labels] == [True] * 3
    for chart, days in ((three_weeks, [2, 22]), (few, [2, 4]), (one, [2])):
        assert [label.day.day for label in chart.labels] == days
    assert [label.anchor for label in few.labels] == ["start", "end"]
