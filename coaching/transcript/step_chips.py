"""Chips of next steps: what a call wrote or noted unasked, as the step is now. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import Any, Literal

from django.utils import timezone

from coaching.library.decisions import UNDO_HOURS
from coaching.models import ActionState
from coaching.steps.words import repeats_in_words
from coaching.tools import presentation_of
from coaching.tools.presentation import text_in
from coaching.transcript.made_files import values_in
from coaching.transcript.names import dom_id_of
from sessions_app.models import ToolCallRecord
from sessions_app.pending_calls import UNDONE

Look = Literal["open", "done", "dropped", "proposed", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepItem:
    """A next step that a call wrote unasked, or what it noted of one: a chip with *Undo* and *Edit*.

    `state` and the rest are those of the step now; `became` is what the call noted of one that was there.
    `is_there` is false once it was deleted; `is_fresh` as long as the call can be undone.
    """

    tool_use_id: str
    dom_id: str
    step_id: int
    state: str
    title: str
    became: str = ""
    due: date | None = None
    due_time: time | None = None
    repeats: str = ""
    quote: str = ""
    is_undone: bool = False
    is_there: bool = True
    is_fresh: bool = True
    kind: Literal["step"] = "step"

    @property
    def look(self) -> Look:
        """How the chip looks. A repeating step that was done is open again, for its next date."""
        if self.is_undone or self.state == ActionState.DISMISSED:
            return "undone"
        if self.state == ActionState.DONE or (self.became == "done" and self.repeats):
            return "done"
        if self.state == ActionState.DROPPED:
            return "dropped"
        return "proposed" if self.state == ActionState.PROPOSED else "open"

    @property
    def can_edit(self) -> bool:
        return self.is_there and self.state != ActionState.DISMISSED

    @property
    def can_undo(self) -> bool:
        return self.can_edit and self.is_fresh and self.look not in ("undone", "proposed")


def chip_of(
    tool_use_id: str, shown: Mapping[str, Any], *, became: str, is_undone: bool = False, is_fresh: bool = True
) -> StepItem | None:
    """Build a chip from what a result says of a step; None for a result that says of none."""
    step_id = shown.get("id")
    if shown.get("written") is not True or not isinstance(step_id, int):
        return None
    chip = StepItem(
        tool_use_id=tool_use_id,
        dom_id=dom_id_of(tool_use_id),
        step_id=step_id,
        state="",
        title="",
        became=became,
        is_undone=is_undone,
        is_fresh=is_fresh,
    )
    return _showing(chip, shown)


def chip_of_call(record: ToolCallRecord) -> StepItem | None:
    """Build the chip of a finished call; None for a call that wrote no step unasked."""
    if record.is_error or record.is_allowed or not presentation_of(record.name).writes_step:
        return None
    since = record.finished_at or record.created_at
    return chip_of(
        record.tool_use_id,
        values_in(record.result),
        became=text_in(record.input, "state") if isinstance(record.input, Mapping) else "",
        is_undone=bool(record.metadata.get(UNDONE)),
        is_fresh=timezone.now() - since < timedelta(hours=UNDO_HOURS),
    )


def chip_now(chip: StepItem, steps: Mapping[int, Mapping[str, Any]]) -> StepItem:
    """Return the chip with its step as it is now, in `steps` by its id."""
    shown = steps.get(chip.step_id)
    return _showing(chip, shown) if shown else replace(chip, is_there=False)


def _showing(chip: StepItem, shown: Mapping[str, Any]) -> StepItem:
    return replace(
        chip,
        state=text_in(shown, "state"),
        title=text_in(shown, "title"),
        due=_parsed(date.fromisoformat, shown.get("due_date")),
        due_time=_parsed(time.fromisoformat, shown.get("due_time")),
        repeats=repeats_in_words(text_in(shown, "repeats")),
        quote=text_in(shown, "quote"),
    )


def _parsed(parse: Any, value: object) -> Any:
    try:
        return parse(value) if isinstance(value, str) else None
    except ValueError:
        return None
