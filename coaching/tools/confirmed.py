"""Writes that wait for the user's yes in a conversation and run at once in the pipeline.

A tool gives the write itself, as synchronous ORM code. Whether it waits is its tier's policy.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.utils.translation import gettext_noop as _
from pydantic import ValidationError

from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import AnsweredCall, ToolInput, ToolResult
from coaching.models import LibraryEffect
from coaching.tools.context import AnswerContext, CallContext, ToolContext
from coaching.tools.places import WRONG_PLACE, chosen_place, place_details
from coaching.tools.presentation import PLACE, CardField
from coaching.tools.reach import default_place, place_to_write
from sessions_app.database import in_database
from sessions_app.errors import FieldRefused, Refused

InputT = TypeVar("InputT", bound=ToolInput)

Write = Callable[[CallContext, InputT], ToolResult]
"""Writes and records the effect. Raises `Refused`, and `ToolError` for an id that looks missing."""
Check = Callable[[CallContext, InputT], Mapping[str, Any]]
"""Returns what the user is shown besides the input, by label. Raises as the write does."""

PLACE_IDS = ("client_id", "project_id")
NOT_WITHOUT_A_YES = "Nothing was written: this needs the user's yes, which only a conversation can ask for."
DECLINED = "The user said no. Nothing was written."
YES_OR_NO = "Please say yes or no."
UNKNOWN_PART = "An answer holds a yes or no and perhaps the edited fields, nothing else."
NOT_ON_THE_CARD = "Only what the card shows can be changed."
WRONG_TEXT = _("Enter 1 to %(most)s ordinary characters.")
_WRONG = {
    "date": _("Enter a date, such as 2027-03-31."),
    "time": _("Enter a time, such as 18:30."),
    "choice": _("Choose one of the options."),
    "lines": _("There are too many lines, or one is too long."),
}


def runs(write: Write[InputT]) -> Callable[[ToolContext, InputT], Awaitable[ToolResult]]:
    """Return the code that writes at once, in a tier whose writes don't wait."""

    async def run(context: ToolContext, given: InputT) -> ToolResult:
        if "confirm" in context.tier.waiting_kinds:
            raise ToolError(NOT_WITHOUT_A_YES)
        try:
            return await context.commit(lambda: write(context, given))
        except Refused as refusal:
            raise ToolError(str(refusal)) from refusal

    return run


def checks(check: Check[InputT]) -> Callable[[ToolContext, InputT], Awaitable[Mapping[str, Any]]]:
    """Return the code that checks a call before the user is asked."""

    async def run(context: ToolContext, given: InputT) -> Mapping[str, Any]:
        try:
            return await in_database(check, context, given)
        except Refused as refusal:
            raise ToolError(str(refusal)) from refusal

    return run


def answers(
    write: Write[InputT], fields: Sequence[CardField], *, shown_by: Check[InputT] | None = None
) -> Callable[[AnswerContext, InputT, Any], AnsweredCall]:
    """Return the code that takes the user's answer: no, or yes with the fields as the user edited them.

    `shown_by` gives what the card says afterwards, of a write whose place isn't a field of its card.
    """

    def answer(context: AnswerContext, given: InputT, value: Any) -> AnsweredCall:
        if not isinstance(value, Mapping) or not isinstance(value.get("accept"), bool):
            raise ToolInputError(YES_OR_NO)
        if set(value) - {"accept", "input"}:
            raise ToolInputError(UNKNOWN_PART)
        if not value["accept"]:
            said_no = ToolResult.of(written=False, message=DECLINED)
            return AnsweredCall(result=said_no, value={"accept": False})
        edits = value.get("input") or {}
        edited = _edited(given, edits, fields)
        if shown_by is None:
            shown, placed, details = _placed(context, edited, edits)
        else:
            shown, placed, details = edited, edited, shown_by(context, edited)
        result = write(context, placed)
        before, after = _plain(given), _plain(shown)
        if changed := sorted(name for name in {*before, *after} if before.get(name) != after.get(name)):
            result = ToolResult.of(**json.loads(result.content), changed_by_the_user=changed)
        effect = LibraryEffect.of(context.user_id).filter(tool_use_id=context.tool_use_id).first()
        kept = {"accept": True, "input": after, "effect": effect.id if effect else None}
        return AnsweredCall(result=result, value=kept, details=details)

    return answer


def _placed(
    context: AnswerContext, given: InputT, edits: Mapping[str, Any]
) -> tuple[InputT, InputT, Mapping[str, Any]]:
    """Return the input with the user's choice of a place, the same with its ids, and the place in words.

    A place that they left as it was changes nothing in the input.
    """
    values = _plain(given)
    ids = {name: values.get(name) for name in PLACE_IDS}
    client, project = default_place(context, client_id=ids["client_id"], project_id=ids["project_id"])
    before = {"client_id": client.pk, "project_id": project.pk if project else None}
    try:
        chosen = chosen_place(context, edits) or before
    except (TypeError, ValueError):
        raise FieldRefused(WRONG_PLACE, field=PLACE.name) from None
    placed = given.model_copy(update=chosen)
    if chosen == before:
        return given, placed, place_details(client, project)
    return placed, placed, place_details(*place_to_write(context, **chosen))


def _edited(given: InputT, edits: object, fields: Sequence[CardField]) -> InputT:
    """Return the input with the user's edits, checked as strictly as the model's.

    Raises `FieldRefused` for the first field at fault.
    """
    if not isinstance(edits, Mapping):
        raise ToolInputError(UNKNOWN_PART)
    by_name = {field.name: field for field in fields}
    values = _plain(given)
    for name, value in edits.items():
        if name in (PLACE.name, *PLACE_IDS):
            continue  # checked with the user's clients
        if name in by_name:
            values[name] = by_name[name].parsed(value, was=values.get(name))
        elif values.get(name) != value:
            raise ToolInputError(NOT_ON_THE_CARD)
    present = {name: value for name, value in values.items() if value is not None}
    try:
        return type(given).model_validate(present)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        field = by_name.get(name)
        if field is None:
            raise ToolInputError(NOT_ON_THE_CARD) from error
        if why := _WRONG.get(field.kind):
            raise FieldRefused(why, field=name) from error
        raise FieldRefused(WRONG_TEXT, field=name, most=field.max_length) from error


def _plain(given: ToolInput) -> dict[str, Any]:
    return given.model_dump(mode="json", exclude_none=True)
