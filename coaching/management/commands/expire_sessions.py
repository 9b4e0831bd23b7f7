"""`manage.py expire_sessions`: runs the periodic job by hand."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from coaching.jobs.expiry import expire_idle_sessions
from sessions_app.organising import purge_deleted_sessions


class Command(BaseCommand):
    help = "End arc sessions, and arcs in open conversations, that were idle for SAGE_SESSION_TTL_HOURS."
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        report = expire_idle_sessions(now=timezone.now())
        purged = purge_deleted_sessions(now=timezone.now())
        self.stdout.write(
            f"Sessions expired: {len(report.expired)}. "
            f"Arcs left in open conversations: {len(report.arcs_left)}. "
            f"Deleted sessions removed: {len(purged)}."
        )
