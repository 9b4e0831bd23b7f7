"""Backups for operators: when one was tried, how large it is, and why one failed."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from coaching.models import Backup
from sessions_app.admin import ReadOnlyMixin


@admin.register(Backup)
class BackupAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Backups that were tried, the newest first."""

    list_display = ("ended_at", "is_whole", "file", "size", "seconds", "reason")
    list_filter = ("is_whole",)
    fields = ("ended_at", "is_whole", "file", "size", "seconds", "reason")
    readonly_fields = fields

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Say why there is none at night."""
        unset = "" if settings.SAGE_BACKUP_DIR else "SAGE_BACKUP_DIR is unset: none is taken at night."
        return super().changelist_view(request, {**(extra_context or {}), "subtitle": unset})
