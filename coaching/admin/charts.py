"""Geometry of the bar charts in the admin. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 720.0, 140.0
_GAP = 0.25
"""Between two bars, of a bar's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a column chart. `title` is what it shows."""

    x: str
    y: str
    width: str
    height: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """A column chart, its axis at the bottom."""

    view_box: str
    bars: Sequence[Bar]


def draw_columns(values: Sequence[int], titles: Sequence[str]) -> Columns:
    """Draw a column for each value; the highest fills the chart, and what isn't zero can be seen."""
    highest = max(values, default=0) or 1
    place = WIDTH / max(1, len(values))
    bars = []
    for index, (value, title) in enumerate(zip(values, titles, strict=True)):
        height = max(1.0, HEIGHT * value / highest) if value else 0.0
        bars.append(
            Bar(
                x=f"{place * (index + _GAP / 2):.1f}",
                y=f"{HEIGHT - height:.1f}",
                width=f"{place * (1 - _GAP):.1f}",
                height=f"{height:.1f}",
                title=title,
            )
        )
    return Columns(view_box=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}", bars=bars)


def percent_of(value: int, highest: int) -> str:
    """Return a bar's length for a value, of a hundred."""
    return f"{100 * value / highest:.1f}" if highest else "0"
