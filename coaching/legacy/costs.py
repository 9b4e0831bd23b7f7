"""What it would cost to write the briefs of imported conversations, before anybody asks for them."""

from collections.abc import Collection, Iterable

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from coaching.context.brief_lines import MAX_TOKENS
from coaching.engine.profiles import cost_micro_usd
from coaching.engine.usage import TokenCounts
from coaching.job_queue.sessions import enqueue_bulk_briefs
from coaching.models import Import
from sessions_app.import_completions import Changed
from sessions_app.imports import sessions_of_import
from sessions_app.models import Session

JOBS_AT_ONCE = 200
REQUEST_TOKENS = 700
"""The instructions of each request."""


def estimate_cost(*, tokens: int, sessions: int) -> int | None:
    """Estimate in millionths of a dollar, rather too much; None where the model's price isn't known."""
    if not sessions:
        return 0
    # One request of average size: long prompts may have another price.
    counts = TokenCounts(input_tokens=tokens // sessions + REQUEST_TOKENS, output_tokens=MAX_TOKENS)
    cost = cost_micro_usd(settings.SAGE_BRIEF_MODEL, counts, on=timezone.now().date())
    return None if cost is None else cost * sessions


def cost_of(row: Import) -> int | None:
    """Estimate what the briefs of an import's conversations would cost."""
    sessions = row.counts.get("sessions", 0) + row.counts.get("branches", 0)
    return estimate_cost(tokens=row.brief_tokens, sessions=sessions)


def change_brief_tokens(user_id: int, changed: Iterable[Changed]) -> None:
    """Count what sessions have gained or lost in the estimates of the imports that made them."""
    for each in changed:
        made_by = Import.of(user_id).filter(pk=each.made_by or 0)
        made_by.update(brief_tokens=Greatest(F("brief_tokens") + each.size, 0))


def enqueue_briefs(row: Import) -> int:
    """Queue a brief for each conversation that has none, behind all other jobs; return how many."""
    made = sessions_of_import(user_id=row.user_id, import_id=row.pk).filter(brief_covers=0)
    sessions = list(made.only("id", "brief_attempts").order_by("-last_active_at"))
    batches = (sessions[start : start + JOBS_AT_ONCE] for start in range(0, len(sessions), JOBS_AT_ONCE))
    return sum(map(enqueue_bulk_briefs, batches))


def imports_without_briefs(user_id: int) -> Collection[int]:
    """Return the keys of the imports that have conversations without a brief."""
    without = Session.of(user_id).filter(imported_until__gt=0, brief_covers=0)
    return set(without.order_by().values_list("metadata__import", flat=True).distinct())
