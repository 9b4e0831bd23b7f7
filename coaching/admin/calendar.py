"""People's calendars for operators: whether they can be read. No names, addresses or events."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from coaching.models import CalendarSource
from sessions_app.admin import ReadOnlyMixin


@admin.register(CalendarSource)
class CalendarSourceAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Calendars and their state, read-only. A feed's address is a secret, so only its host is shown."""

    list_display = ("id", "user", "kind", "host", "read_at", "next_try_at", "failing_since", "error")
    list_filter = ("kind", ("failing_since", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email")
    fields = (
        "user", "kind", "host", "added_at", "read_at", "tried_at", "next_try_at", "failures", "failing_since",
        "error", "left_out", "expanded_on",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[CalendarSource]:
        return super().get_queryset(request).defer("content")
