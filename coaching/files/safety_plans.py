"""A person's safety plan: a private file with a page of its own (`coaching.safety.plan` has its form).

The plan's page, its print, the card with help lines and the file's own page read it here. Sage reads it with
`read_file`, when the person asks for it or is in danger.
"""

import uuid
from datetime import datetime
from zoneinfo import ZoneInfo

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils.translation import gettext_noop

from coaching.files.attributes import NO_ATTRIBUTES
from coaching.files.drafts import FileDraft, build_draft, check_content
from coaching.files.edits import build_edit
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import FileText, read_file
from coaching.files.types import RULES
from coaching.models import FileType, UserFile, UserFileVersion
from coaching.safety.plan import SafetyPlan, apply_save, parse_plan, render_plan
from coaching.safety.plan_lines import PlanExcerpt, excerpt_of

PLAN_PATH = RULES[FileType.SAFETY_PLAN].place
EMPTY_PLAN = gettext_noop("Write something in at least one section.")

logger = structlog.get_logger(__name__)


def read_plan_file(*, user_id: int, number: int | None = None) -> FileText | None:
    """Read the person's plan, or an older version of it; None where there is none."""
    try:
        return read_file(user_id=user_id, path=PLAN_PATH, number=number)
    except (UserFile.DoesNotExist, UserFileVersion.DoesNotExist):
        return None


def has_plan(*, user_id: int) -> bool:
    """Return whether the person has a plan; False where the database fails."""
    try:
        with transaction.atomic():
            return UserFile.of(user_id).filter(path=PLAN_PATH).exists()
    except DatabaseError:
        logger.warning("safety_plan_without_database")
        return False


def plan_in(found: FileText) -> SafetyPlan:
    """Return the plan in a file's text."""
    return parse_plan(parse_file(found.text)[1])


def plan_body(content: str, newest_body: str) -> str:
    """Return the body that a save by Sage gives, over the newest one. Raises `FileRefused`."""
    plan = apply_save(parse_plan(newest_body), parse_plan(content))
    if plan.is_empty and not newest_body:
        raise FileRefused(
            "The plan has no text, so nothing was saved. Write what they said below its section's heading."
        )
    return check_content(render_plan(plan))


def build_plan_draft(
    plan: SafetyPlan, newest: FileText | None, *, now: datetime, timezone: ZoneInfo
) -> FileDraft:
    """Build the draft of the person's own text, over the newest version or as a new file.

    Raises `FileRefused` where it is too long, can't be stored, or says nothing at all in a new file.
    """
    body = render_plan(plan)
    if newest is not None:
        return build_edit(newest, body=body, attributes=NO_ATTRIBUTES, now=now, timezone=timezone)
    if plan.is_empty:
        raise FileRefused(EMPTY_PLAN)
    return build_draft(file_type=FileType.SAFETY_PLAN, content=body, now=now, timezone=timezone)


def read_card_plan(*, user_id: int) -> PlanExcerpt | None:
    """Read what a card shows of the person's plan; None without one, or where the database fails."""
    try:
        with transaction.atomic():
            found = read_plan_file(user_id=user_id)
    except DatabaseError:
        logger.warning("safety_plan_without_database")
        return None
    return excerpt_of(plan_in(found)) if found else None


def read_card_plan_of_session(session_id: uuid.UUID) -> PlanExcerpt | None:
    """Read what a card in a session shows of its user's plan; like `read_card_plan`."""
    newest = UserFileVersion.unscoped.filter(
        file__user__coaching_sessions=session_id,
        file__path=PLAN_PATH,
        file__deleted_at=None,
        number=F("file__version_number"),
    )
    try:
        with transaction.atomic():
            text = newest.values_list("content", flat=True).first()
    except DatabaseError:
        logger.warning("safety_plan_without_database")
        return None
    return excerpt_of(parse_plan(parse_file(text)[1])) if text else None
