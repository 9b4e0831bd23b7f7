"""Backups for operators: when one was tried, how large it is, and why one failed."""

from django.contrib import admin

from coaching.models import Backup
from sessions_app.admin import ReadOnlyMixin


@admin.register(Backup)
class BackupAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Backups that were tried, the newest first."""

    list_display = ("ended_at", "is_whole", "file", "size", "seconds", "reason")
    list_filter = ("is_whole",)
    fields = ("ended_at", "is_whole", "file", "size", "seconds", "reason")
    readonly_fields = fields
