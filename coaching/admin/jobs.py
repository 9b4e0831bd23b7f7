"""Background jobs for operators: what runs, what failed, and another attempt."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from procrastinate.contrib.django.admin import ProcrastinateJobAdmin
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue import queue_again

# Importing the library's admin has registered its own page.
admin.site.unregister(ProcrastinateJob)


@admin.register(ProcrastinateJob)
class JobAdmin(ProcrastinateJobAdmin):
    """The library's page with names first, filters that stay fast, and a retry that can be refused."""

    list_display = ["task_name", "pretty_status", "summary", "attempts", "scheduled_at", "pretty_args", "id"]
    list_filter = ["status", "task_name", "queue_name", "scheduled_at"]
    ordering = ("-id",)
    show_full_result_count = False
    actions = ["retry"]

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
