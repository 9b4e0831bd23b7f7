"""Incoming mail for operators: whether the mailbox can be read, and how many mails were taken and refused.

No address, sender or subject.
"""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from coaching.models import InboxMail, InboxRefusal, InboxState
from sessions_app.admin import ReadOnlyMixin


@admin.register(InboxState)
class InboxStateAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """How far the mailbox was read, and since when it fails."""

    list_display = ("read_at", "failures", "failing_since", "error", "next_try_at", "last_uid")
    fields = ("read_at", "failures", "failing_since", "error", "next_try_at", "uid_validity", "last_uid")
    readonly_fields = fields

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Say why no mail comes in."""
        unset = "" if settings.SAGE_INBOX else "SAGE_INBOX_URL is unset: no mail comes in."
        return super().changelist_view(request, {**(extra_context or {}), "subtitle": unset})


@admin.register(InboxMail)
class InboxMailAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Mails that were taken; their documents have pages of their own, without words."""

    list_display = ("id", "user", "taken_at", "size", "is_moved")
    list_filter = ("is_moved",)
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email")
    fields = ("user", "taken_at", "size", "uid_validity", "uid", "is_moved")
    readonly_fields = fields


@admin.register(InboxRefusal)
class InboxRefusalAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """How many mails were refused, by day, person and reason."""

    list_display = ("day", "user", "reason", "count")
    list_filter = ("reason", "day")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email")
    fields = ("day", "user", "reason", "count")
    readonly_fields = fields
