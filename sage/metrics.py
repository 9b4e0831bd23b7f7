"""`/metrics` for Prometheus: what this process counts, and what the database says of jobs and briefs.

Each process answers for itself. It can be read while Sage is overloaded or has no database: then what the
database says is left out.
"""

from math import inf

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Gauge, generate_latest

from coaching.job_queue.queue import count_failed_jobs, count_jobs, worker_seen_at
from coaching.job_queue.sessions import BRIEF_ATTEMPTS
from coaching.live.runner import get_runner
from coaching.models import Backup
from coaching.people.socket_access import open_sockets
from coaching.supervision import supervisor
from sessions_app.database import in_database
from sessions_app.figures import read_brief_figures

REFUSED = "Only for operators who are signed in, or with the bearer token in SAGE_METRICS_TOKEN.\n"

log = structlog.get_logger(__name__)

_open_sockets = Gauge("sage_open_sockets", "WebSockets that are open in this process.")
_open_sockets.set_function(lambda: len(open_sockets))
_running_turns = Gauge("sage_running_turns", "Turns that run in this process.")
_running_turns.set_function(lambda: len(get_runner().running))
_failing_loops = Gauge("sage_failing_loops", "Endless loops of this process that can't be kept running.")
_failing_loops.set_function(lambda: len(supervisor.failing()))


@require_safe
async def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all metrics, for operators or with the token only."""
    if not (has_token(request.headers.get("Authorization", "")) or await in_database(_is_operator, request)):
        return HttpResponse(REFUSED, status=403, content_type="text/plain")
    try:
        text = await in_database(_of_database)
    except (DatabaseError, InterfaceError) as error:
        log.warning("metrics_without_database", error=type(error).__name__)
        text = b""
    return HttpResponse(generate_latest(REGISTRY) + text, content_type=CONTENT_TYPE_LATEST)


def has_token(authorization: str) -> bool:
    """Return whether an Authorization header has the token of the metrics' reader."""
    scheme, _, token = authorization.partition(" ")
    expected = settings.SAGE_METRICS_TOKEN
    return bool(expected) and scheme.lower() == "bearer" and constant_time_compare(token, expected)


def _is_operator(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


def _of_database() -> bytes:
    """Return what all processes share, the same from each of them."""
    registry = CollectorRegistry()
    jobs = Gauge("sage_jobs", "Background jobs in the queue, by state.", ["state"], registry=registry)
    for state, count in count_jobs().items():
        jobs.labels(state).set(count)
    failed = Gauge(
        "sage_failed_jobs", "Failed jobs that wait for an operator, by job.", ["job"], registry=registry
    )
    for job, count in count_failed_jobs().items():
        failed.labels(job).set(count)
    briefs = read_brief_figures(now=timezone.now(), failing_from=BRIEF_ATTEMPTS)
    lag = "The age of the oldest message that waits for a brief, 0 where none does."
    Gauge("sage_brief_lag_seconds", lag, registry=registry).set(briefs.oldest_seconds)
    failing = f"Conversations whose brief has failed {BRIEF_ATTEMPTS} times or more in a row."
    Gauge("sage_briefs_failing", failing, registry=registry).set(briefs.failing)
    seen_at = worker_seen_at()
    silence = "The age of the last sign of life of any worker, infinite where all have ended."
    Gauge("sage_worker_silent_seconds", silence, registry=registry).set(
        (timezone.now() - seen_at).total_seconds() if seen_at else inf
    )
    if backup := Backup.objects.filter(is_whole=True).first():
        age = Gauge("sage_backup_age_seconds", "The age of the last whole backup.", registry=registry)
        age.set((timezone.now() - backup.ended_at).total_seconds())
    return generate_latest(registry)
