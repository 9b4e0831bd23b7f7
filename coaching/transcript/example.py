"""An example week, written by hand: the items of a conversation that nobody had. `example.<language>.toml`.

It is nobody's: no row, no account. Its days are those of last week, so the dates on it exist.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.template.defaultfilters import linebreaks_filter
from django.utils.translation import get_language

from coaching.transcript.calls import QuestionItem, ShownCall, ShownOption, WrittenItem
from coaching.transcript.items import DayItem, RoundItem, SaidItem, ShownItem, TurnItem
from coaching.transcript.step_chips import StepItem
from sessions_app.models import ToolCallState

LANGUAGES = ("en", "de", "es")


def example_week(today: date) -> Sequence[ShownItem]:
    """Return the example in the active language, English where it isn't in that."""
    language = get_language() or ""
    week = _read(language if language in LANGUAGES else "en")
    monday = today - timedelta(days=today.weekday() + 7)
    return [item for day in week["days"] for item in _items_of(day, monday)]


@cache
def _read(language: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"example.{language}.toml").read_text(encoding="utf-8"))


def _items_of(day: Mapping[str, Any], monday: date) -> Iterator[ShownItem]:
    yield DayItem(date=monday + timedelta(days=day["day"]))
    for place, told in enumerate(day["talk"]):
        number = 100 * day["day"] + place
        if "them" in told:
            yield SaidItem(session_id="", number=number, client_id="", text=told["them"])
        else:
            name = f"example-{number}"
            calls = list(_calls_in(told, monday, name))
            spoken = RoundItem(notes="", html=linebreaks_filter(told["sage"]), calls=calls)
            yield TurnItem(turn_id=name, rounds=[spoken])


def _calls_in(told: Mapping[str, Any], monday: date, name: str) -> Iterator[ShownCall]:
    """Yield what is shown below an answer: a file, a step's chip, the answers to tap."""
    if "file" in told:
        file = told["file"]
        yield WrittenItem(
            name=file["name"], folder=file["folder"], html=linebreaks_filter(file["text"]), text=file["text"]
        )
    if "step" in told:
        step = told["step"]
        due = monday + timedelta(days=step["due"]) if "due" in step else None
        yield StepItem(
            tool_use_id="",
            dom_id=f"{name}-step",
            step_id=0,
            state=step["state"],
            title=step["title"],
            due=due,
            is_there=False,
        )
    if "pills" in told:
        options = [
            ShownOption(label=label, value=label, is_chosen=label == told["tapped"])
            for label in told["pills"]
        ]
        yield QuestionItem(
            kind="options",
            dom_id=f"{name}-call",
            tool_use_id="",
            state=ToolCallState.ANSWERED,
            options=options,
        )
