"""Geometry of the rating charts. Pure. A domain without a rating is a gap, not a zero."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

HIGHEST = 5

_CENTRE_X, _CENTRE_Y = 222.0, 172.0
_RADIUS = 116.0
_LABEL_GAP = 17.0
# Labels at the sides start next to their axis; at top and bottom they are centred on it.
_SIDE = 0.3

_TREND_WIDTH, _TREND_HEIGHT, _TREND_MARGIN = 132.0, 44.0, 6.0

_DAYS_WIDTH = 320.0
_DAYS_LEFT, _DAYS_MARGIN, _DAYS_TOP, _DAYS_BOTTOM, _DAYS_OTHER = 46.0, 6.0, 10.0, 82.0, 102.0
_DAYS_LABEL = 24.0
"""From the lowest dots to the dates below them."""
_DATE_WIDTH = 44.0
"""Room for a date or a month below a chart."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """An axis of a radar: its end, its label, and the point of its rating (None without one)."""

    label: str
    x: str
    y: str
    label_x: str
    label_y: str
    anchor: Anchor
    dot: tuple[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Radar:
    """A radar. `area`, `outline` (current ratings) and `first` are SVG paths, empty without ratings."""

    view_box: str
    centre: tuple[str, str]
    rings: Sequence[str]
    spokes: Sequence[Spoke]
    area: str
    outline: str
    first: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A trend of one to four ratings. `line` is empty for a single one; `dots` are the ratings' points."""

    view_box: str
    left: str
    right: str
    rules: Sequence[str]
    line: str
    dots: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLabel:
    """A date below a chart. One that `begins_month` has a line above it."""

    x: str
    day: date
    anchor: Anchor
    begins_month: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChart:
    """Levels of days as points. `others` are days whose words have no level."""

    view_box: str
    left: str
    right: str
    rules: Sequence[str]
    line: str
    dots: Sequence[tuple[str, str]]
    others: Sequence[tuple[str, str]]
    bottom: str
    labels: Sequence[DayLabel]
    labels_y: str

    @property
    def is_empty(self) -> bool:
        return not (self.dots or self.others)


def draw_radar(labels: Sequence[str], now: Sequence[int | None], first: Sequence[int | None]) -> Radar:
    """Draw ratings from 1 to 5, one per label, clockwise from the top."""
    number = len(labels)
    places = [_place(index, number, rating) for index, rating in enumerate(now)]
    firsts = [_place(index, number, rating) for index, rating in enumerate(first)]
    return Radar(
        view_box=f"0 0 {_text(2 * _CENTRE_X)} {_text(2 * _CENTRE_Y + 4)}",
        centre=(_text(_CENTRE_X), _text(_CENTRE_Y)),
        rings=[
            " ".join(_pair(_at(index, number, ring / HIGHEST)) for index in range(number))
            for ring in range(1, HIGHEST + 1)
        ],
        spokes=[
            _spoke(index, number, label, place)
            for index, (label, place) in enumerate(zip(labels, places, strict=True))
        ],
        area=_area(places),
        outline=_outline(places),
        first=_outline(firsts) if firsts != places else "",
    )


def draw_trend(ratings: Sequence[int]) -> Trend:
    """Draw ratings from 1 to 5, oldest on the left; a single one is at the right end."""
    usable = _TREND_WIDTH - 2 * _TREND_MARGIN
    step = usable / 3
    right = _TREND_WIDTH - _TREND_MARGIN
    dots = [
        (right - step * (len(ratings) - 1 - index), _height(rating)) for index, rating in enumerate(ratings)
    ]
    return Trend(
        view_box=f"0 0 {_text(_TREND_WIDTH)} {_text(_TREND_HEIGHT)}",
        left=_text(_TREND_MARGIN),
        right=_text(right),
        rules=[_text(_height(rating)) for rating in (1, 3, 5)],
        line=" ".join(map(_pair, dots)) if len(dots) > 1 else "",
        dots=[(_text(x), _text(y)) for x, y in dots],
    )


def draw_days(first: date, levels: Sequence[int | None], words: Sequence[str]) -> DayChart:
    """Draw levels from 1 to 5, one per day from `first` on; a line joins days that follow each other.

    A day with words but no level gets a dot below. However many the days are, they fill the width.
    """
    usable = _DAYS_WIDTH - _DAYS_LEFT - _DAYS_MARGIN
    step = usable / max(1, len(levels) - 1)
    places = [_DAYS_LEFT + step * index for index in range(len(levels))]
    dots = [(places[index], _level(level)) for index, level in enumerate(levels) if level is not None]
    others = [
        (places[index], _DAYS_OTHER)
        for index, (level, said) in enumerate(zip(levels, words, strict=True))
        if said and level is None
    ]
    before = [None, *levels]
    pieces = [
        f"{'M' if before[index] is None else 'L'}{_pair((places[index], _level(level)))}"
        for index, level in enumerate(levels)
        if level is not None
    ]
    bottom = _DAYS_OTHER if others else _DAYS_BOTTOM
    return DayChart(
        view_box=f"0 0 {_text(_DAYS_WIDTH)} {_text(bottom + _DAYS_LABEL + _DAYS_MARGIN)}",
        left=_text(_DAYS_LEFT - _DAYS_MARGIN),
        right=_text(_DAYS_WIDTH),
        rules=[_text(_level(level)) for level in range(1, HIGHEST + 1)],
        line=" ".join(pieces),
        dots=[(_text(x), _text(y)) for x, y in dots],
        others=[(_text(x), _text(y)) for x, y in others],
        bottom=_text(bottom + _DAYS_MARGIN),
        labels=_labels(first, places),
        labels_y=_text(bottom + _DAYS_LABEL),
    )


def _labels(first: date, places: Sequence[float]) -> Sequence[DayLabel]:
    """Return the days on which months begin, or else the first and the last day, as far as they fit."""
    days = [(first + timedelta(days=index), x) for index, x in enumerate(places)]
    months = [
        DayLabel(x=_text(x), day=day, anchor=_anchor_at(x), begins_month=True)
        for day, x in days
        if day.day == 1
    ]
    if months:
        return months
    ends = [DayLabel(x=_text(places[0]), day=first, anchor="start")]
    if len(days) > 1:
        ends.append(DayLabel(x=_text(places[-1]), day=days[-1][0], anchor="end"))
    return ends


def _anchor_at(x: float) -> Anchor:
    return "end" if x > _DAYS_WIDTH - _DATE_WIDTH else "start"


def _level(level: int) -> float:
    return _DAYS_BOTTOM - (level - 1) / (HIGHEST - 1) * (_DAYS_BOTTOM - _DAYS_TOP)


def _spoke(index: int, number: int, label: str, place: tuple[float, float] | None) -> Spoke:
    x, y = _at(index, number, 1)
    across, down = math.sin(_angle(index, number)), -math.cos(_angle(index, number))
    anchor: Anchor = "middle" if abs(across) < _SIDE else "start" if across > 0 else "end"
    return Spoke(
        label=label,
        x=_text(x),
        y=_text(y),
        label_x=_text(x + across * _LABEL_GAP),
        # Text baselines are below the middle of the letters.
        label_y=_text(y + down * _LABEL_GAP + 5),
        anchor=anchor,
        dot=(_text(place[0]), _text(place[1])) if place else None,
    )


def _area(places: Sequence[tuple[float, float] | None]) -> str:
    """Fill between each pair of adjacent points that both have a rating."""
    if all(places):
        return _outline(places)
    centre = _pair((_CENTRE_X, _CENTRE_Y))
    return " ".join(f"M{centre} L{_pair(one)} L{_pair(other)} Z" for one, other in _adjacent(places))


def _outline(places: Sequence[tuple[float, float] | None]) -> str:
    whole = [place for place in places if place]
    if len(whole) == len(places):
        return f"M{' L'.join(map(_pair, whole))} Z" if whole else ""
    return " ".join(f"M{_pair(one)} L{_pair(other)}" for one, other in _adjacent(places))


def _adjacent(
    places: Sequence[tuple[float, float] | None],
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    following = [*places[1:], *places[:1]]
    return [(one, other) for one, other in zip(places, following, strict=True) if one and other]


def _place(index: int, number: int, rating: int | None) -> tuple[float, float] | None:
    return None if rating is None else _at(index, number, rating / HIGHEST)


def _at(index: int, number: int, share: float) -> tuple[float, float]:
    angle = _angle(index, number)
    return _CENTRE_X + math.sin(angle) * _RADIUS * share, _CENTRE_Y - math.cos(angle) * _RADIUS * share


def _angle(index: int, number: int) -> float:
    return 2 * math.pi * index / number


def _height(rating: int) -> float:
    share = (rating - 1) / (HIGHEST - 1)
    return _TREND_HEIGHT - _TREND_MARGIN - share * (_TREND_HEIGHT - 2 * _TREND_MARGIN)


def _pair(point: tuple[float, float]) -> str:
    return f"{_text(point[0])},{_text(point[1])}"


def _text(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
