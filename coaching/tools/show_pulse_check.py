"""`show_pulse_check`: the user rates life domains from 1 to 5.

The ratings are stored in the transaction that records the answer.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.clock.days import local_day
from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import AnsweredCall, ToolInput, ToolResult
from coaching.files.attributes import StorableText, check_storable
from coaching.files.standing import STATUS_JUST_GIVEN, check_standing
from coaching.life.pulse import DomainPulse, read_pulse, store_ratings
from coaching.models import LifeDomain
from coaching.tools.context import AnswerContext, ToolContext
from coaching.tools.presentation import Presentation, Question, SageTool, text_in
from coaching.tools.statuses_given import read_statuses_given
from sessions_app.database import in_database
from sessions_app.errors import FieldRefused

MAX_NOTE_CHARACTERS = 500
RATINGS = range(1, 6)

DESCRIPTION = (
    "Let the user rate their life domains from 1 (worst) to 5 (best), all eight or those that you name. "
    "Use it in the weekly check-in, or where numbers show what words hide; once in a conversation at most. "
    "Say why, then call it: the call ends your turn and waits. They may rate only some, add a word, or "
    "write instead. Their answer stores the ratings. The result gives each one's old and new value, change "
    "and baseline (the very first): ask about what moved before you explain it."
)
RATE_ONE = _("Please rate at least one area, from 1 to 5.")
NOT_1_TO_5 = _("A rating must be a whole number from 1 to 5.")
NOT_ASKED = "One of these areas wasn't asked about. The areas are: {domains}."
NOTE_IS_TEXT = "The note must be text."
NOTE_TOO_LONG = _("The note has %(length)s characters; %(limit)s is the most that fits.")
NOTE_UNSTORABLE = _("The note has a character that can’t be stored. Please remove it and send again.")
UNKNOWN_PART = "An answer holds ratings and perhaps a note, nothing else."
ALL_RATINGS = "ratings"
"""The field of a fault that is no single rating's."""
ONLY_IN_A_CONVERSATION = "A pulse check can be shown in a conversation only."


class ShowPulseCheckInput(ToolInput):
    context: Annotated[StorableText, Field(max_length=500)] | None = Field(
        default=None, description="A line above the ratings."
    )
    domains: list[LifeDomain] | None = Field(
        default=None, min_length=1, max_length=8, description="Only these; left out, all eight."
    )

    @property
    def asked(self) -> tuple[LifeDomain, ...]:
        """The domains to rate, without duplicates."""
        return tuple(dict.fromkeys(self.domains or LifeDomain))


async def _run(_: ToolContext, __: ShowPulseCheckInput) -> ToolResult:
    raise ToolError(ONLY_IN_A_CONVERSATION)


async def _read_last(context: ToolContext, given: ShowPulseCheckInput) -> Mapping[str, str]:
    """Return the last rating of each domain and the user's day of it, to be shown as marks."""
    pulse = await in_database(read_pulse, context.user_id)
    return {
        str(domain): f"{last.latest} {local_day(last.rated_at, context.timezone).isoformat()}"
        for domain in given.asked
        if (last := pulse.get(domain))
    }


def _answer(context: AnswerContext, given: ShowPulseCheckInput, value: Any) -> AnsweredCall:
    """Store the ratings. Raises `ToolInputError`, and `FieldRefused` for what a person can mend."""
    if not isinstance(value, Mapping):
        raise FieldRefused(RATE_ONE, field=ALL_RATINGS)
    if set(value) - {"ratings", "note"}:
        raise ToolInputError(UNKNOWN_PART)
    ratings = _checked_ratings(value.get("ratings"), given.asked)
    note = _checked_note(value.get("note"))
    statuses = read_statuses_given(context)
    for domain, rating in ratings.items():
        check_standing(statuses.get(domain), rating, sentence=STATUS_JUST_GIVEN, field=domain)
    store_ratings(
        user_id=context.user_id,
        ratings=ratings,
        note=note,
        session_id=context.session_id,
        rated_at=context.now,
    )
    pulse = read_pulse(context.user_id)
    result = {"ratings": {str(domain): _said(pulse[domain]) for domain in ratings}}
    kept: dict[str, Any] = {"ratings": {str(domain): rating for domain, rating in ratings.items()}}
    skipped = [str(domain) for domain in given.asked if domain not in ratings]
    return AnsweredCall(
        result=ToolResult.of(
            **result, **({"not_rated": skipped} if skipped else {}), **({"note": note} if note else {})
        ),
        value={**kept, "note": note} if note else kept,
    )


def _said(pulse: DomainPulse) -> dict[str, int | list[int] | None]:
    return {
        "old": pulse.previous,
        "new": pulse.latest,
        "change": pulse.change,
        "baseline": pulse.baseline,
        "change_since_baseline": pulse.change_since_baseline,
        "trend": list(pulse.trend),
    }


def _checked_ratings(ratings: object, asked: tuple[LifeDomain, ...]) -> dict[LifeDomain, int]:
    """Return the ratings in the domains' order. Raises `ToolInputError` and `FieldRefused`."""
    if not isinstance(ratings, Mapping) or not ratings:
        raise FieldRefused(RATE_ONE, field=ALL_RATINGS)
    if not set(ratings) <= set(asked):
        raise ToolInputError(NOT_ASKED.format(domains=", ".join(str(domain.label) for domain in asked)))
    for domain, rating in ratings.items():
        if type(rating) is not int or rating not in RATINGS:  # a bool is an int too
            raise FieldRefused(NOT_1_TO_5, field=str(domain))
    return {domain: ratings[domain] for domain in asked if domain in ratings}


def _checked_note(note: object) -> str:
    if note is None:
        return ""
    if not isinstance(note, str):
        raise ToolInputError(NOTE_IS_TEXT)
    if len(note) > MAX_NOTE_CHARACTERS:
        raise FieldRefused(NOTE_TOO_LONG, field="note", length=len(note), limit=MAX_NOTE_CHARACTERS)
    try:
        check_storable(note)
    except ValueError:
        raise FieldRefused(NOTE_UNSTORABLE, field="note") from None
    return note.strip()


def _question(values: Mapping[str, Any]) -> Question:
    domains = values.get("domains")
    asked = domains if isinstance(domains, list) and domains else LifeDomain.values
    known = [LifeDomain(name) for name in dict.fromkeys(map(str, asked)) if name in LifeDomain.values]
    return Question(kind="pulse", prompt=text_in(values, "context"), domains=known)


SHOW_PULSE_CHECK: SageTool[ShowPulseCheckInput] = SageTool(
    name="show_pulse_check",
    description=DESCRIPTION,
    input_model=ShowPulseCheckInput,
    kind="interactive",
    run=_run,
    check=_read_last,
    answer=_answer,
    presentation=Presentation(
        once=_("asked for ratings"), often=_("asked for ratings {count} times"), question=_question
    ),
)
