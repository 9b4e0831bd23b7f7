"""Turns for operators, with their whole trace and no text."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from coaching.transcript.trace import TurnTrace, read_trace
from sessions_app.admin import ReadOnlyMixin, RoundInline, ToolCallInline, UsageInline
from sessions_app.models import Turn
from sessions_app.spending import read_spending_of_turn


@admin.register(Turn)
class TurnAdmin(ReadOnlyMixin, admin.ModelAdmin):  # type: ignore[type-arg]
    """Turns, read-only: rounds, calls, usage, trace."""

    list_display = ("id", "session", "status", "stop_reason", "failure", "model", "started_at", "ended_at")
    list_filter = ("status", "failure", "model", "started_at")
    list_select_related = ("session",)
    search_fields = ("=id", "=session__id", "session__user__username", "session__user__email")
    fields = (
        "id", "session", "status", "stop_reason", "failure", "user_notice", "model", "owner", "fence", "part",
        "started_at", "ended_at",
    )  # fmt: skip
    readonly_fields = fields
    inlines = (RoundInline, ToolCallInline, UsageInline)
    change_form_template = "admin/sessions_app/turn/change_form.html"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        turn = self.get_object(request, object_id)
        context = {**(extra_context or {}), "trace": _trace_of(turn) if turn else None}
        return super().change_view(request, object_id, form_url, context)


def _trace_of(turn: Turn) -> TurnTrace:
    calls = turn.calls.order_by("round_number", "position")
    return read_trace(turn, calls, read_spending_of_turn(turn.id))
