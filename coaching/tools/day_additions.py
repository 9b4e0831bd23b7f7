"""What an open conversation adds to a day's plan, which belongs to opening the day.

It is written at once where it only adds what the user said that they will do, by the rule for next steps
(`library.promises`): each new priority is in their own words. Anything else waits for their yes.
"""

from collections.abc import Collection
from datetime import date

from coaching.clock.days import local_day
from coaching.files.drafts import FileDraft
from coaching.files.frontmatter import strip_frontmatter
from coaching.library.promises import Claim
from coaching.library.spoken_days import days_said
from coaching.models import DayPlan, FileType, UserFileVersion
from coaching.tools.context import ToolContext
from coaching.tools.evidence import decision_on
from sessions_app.models import SessionKind

_MARKS = "-*+[] xX\t"
"""What stands before a task in a list."""


def is_addition(context: ToolContext, file_type: FileType) -> bool:
    """Say whether a call writes a day's plan outside of opening the day."""
    return file_type == FileType.DAY_PLAN and context.effective_kind == SessionKind.OPEN_CONVERSATION


def is_said(context: ToolContext, draft: FileDraft) -> bool:
    """Say whether a plan keeps all that it says and adds the user's own words alone. Sync ORM code.

    Raises `ToolError` in a turn with a card.
    """
    plan = DayPlan.of(context.user_id).filter(date=draft.path.day).first() or DayPlan()
    had = [str(priority.get("text", "")) for priority in plan.priorities]
    added = [text for text in draft.attributes.priorities or () if text not in had]
    promised = [_is_promised(context, text, draft.path.day) for text in added]
    return bool(promised) and all(promised) and _only_adds(plan, had, added, draft)


def _only_adds(plan: DayPlan, had: Collection[str], added: Collection[str], draft: FileDraft) -> bool:
    given = draft.attributes.given()
    if draft.cleared or not set(given) <= {"intention", "priorities"}:
        return False
    if given.get("intention", plan.intention) != plan.intention:
        return False
    if not set(had) <= set(draft.attributes.priorities or ()):
        return False
    before, after = _lines_of(_body_of(plan)), _lines_of(draft.body)
    return before <= after and {line.lstrip(_MARKS) for line in after - before} <= set(added)


def _body_of(plan: DayPlan) -> str:
    newest = UserFileVersion.of(plan.user_id).filter(file=plan.file_id) if plan.file_id else None
    content = newest.order_by("-number").values_list("content", flat=True).first() if newest else None
    return strip_frontmatter(content or "")


def _lines_of(text: str) -> set[str]:
    return {stripped for line in text.splitlines() if (stripped := line.strip())}


def _is_promised(context: ToolContext, text: str, day: date) -> bool:
    """Say whether the user said that they will do something on a day; without a day they mean today."""
    of_day = Claim(quote=text, purpose="new", title=text, due_date=day)
    if not decision_on(context, of_day, is_tainted=False).asks:
        return True
    today = local_day(context.now, context.timezone)
    said = decision_on(context, Claim(quote=text, purpose="new", title=text), is_tainted=False)
    return day == today and not said.asks and not days_said(said.sentence, spoken_on=today)
