"""Background jobs for operators: what runs, what failed, and another attempt."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from procrastinate.contrib.django.admin import ProcrastinateJobAdmin
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.queue import queue_again

# Importing the library's admin has registered its own page.
admin.site.unregister(ProcrastinateJob)


@admin.register(ProcrastinateJob)
class JobAdmin(ProcrastinateJobAdmin):
    """The library's page with names first, fast filters and no inline styles; a retry may be refused."""

    list_display = ["task_name", "status", "last_event", "attempts", "scheduled_at", "arguments", "id"]
    fields = [
        "task_name", "status", "last_event", "arguments", "queue_name", "lock", "queueing_lock", "priority",
        "scheduled_at", "attempts", "id",
    ]  # fmt: skip
    list_filter = ["status", "task_name", "queue_name", "scheduled_at"]
    ordering = ("-id",)
    show_full_result_count = False
    actions = ["retry"]

    @admin.display(description="Last event")
    def last_event(self, job: ProcrastinateJob) -> str:
        event = next(iter(job.procrastinateevent_set.all()), None)
        if event is None or event.at is None:
            return "–"
        return f"{event.type.replace('_', ' ')}, {date_format(event.at, 'DATETIME_FORMAT')}"

    @admin.display(description="Arguments")
    def arguments(self, job: ProcrastinateJob) -> str:
        """Return ids: a job's arguments never hold words."""
        return ", ".join(f"{name}={value}" for name, value in job.args.items())

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("procrastinate.change_procrastinatejob")

    @admin.action(description="Retry Job", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[ProcrastinateJob]) -> None:
        """Queue failed jobs again, except where the same one waits already."""
        failed = list(queryset.filter(status="failed"))
        queued = sum(queue_again(job.id) for job in failed)
        self.message_user(request, f"{queued} queued again.", messages.SUCCESS)
        if queued < len(failed):
            waiting = f"{len(failed) - queued} not queued: the same job waits already."
            self.message_user(request, waiting, messages.WARNING)
