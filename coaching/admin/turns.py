"""Turns for operators, with their whole trace and no text; failed ones can be answered again."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from coaching.live.runner import get_runner
from coaching.transcript.trace import TurnTrace, read_trace
from coaching.turns.request import TurnRequest
from sessions_app.admin import ReadOnlyMixin, RoundInline, ToolCallInline, UsageInline
from sessions_app.database import give_back_connections, in_database
from sessions_app.errors import Refused
from sessions_app.figures import FAILED
from sessions_app.models import SafetyVerdict, Session, Turn
from sessions_app.opened_turns import is_last_turn
from sessions_app.spending import read_spending_of_turn

MAX_ANSWERED_AGAIN = 20
"""At once: each opens a turn in this process."""


@admin.register(Turn)
class TurnAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Turns, read-only: rounds, calls, usage, trace."""

    list_display = (
        "person", "started_at", "status", "failure", "kind", "model", "stop_reason", "ended_at",
    )  # fmt: skip
    list_filter = ("status", "failure", "model", "started_at")
    list_select_related = ("session__user",)
    show_full_result_count = False
    actions = ("answer_again",)
    search_fields = ("=id", "=session__id", "session__user__username", "session__user__email")
    fields = (
        "id", "session", "status", "stop_reason", "failure", "user_notice", "model", "owner", "fence", "part",
        "message_number", "is_withdrawn", "started_at", "ended_at",
    )  # fmt: skip
    readonly_fields = fields
    inlines = (RoundInline, ToolCallInline, UsageInline)
    change_form_template = "admin/sessions_app/turn/change_form.html"

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Say whether the operator may spend people's tokens on another answer."""
        return request.user.has_perm("sessions_app.change_turn")

    @admin.display(description="Person", ordering="session__user__username")
    def person(self, turn: Turn) -> str:
        return turn.session.user.get_username()

    @admin.display(description="Conversation", ordering="session__kind")
    def kind(self, turn: Turn) -> str:
        return turn.session.get_kind_display()

    @admin.action(description="Answer again, if failed or interrupted", permissions=["retry"])
    def answer_again(self, request: HttpRequest, turns: QuerySet[Turn]) -> None:
        """Do for these people what their *Try again* does. Each gets an answer of their own or a reason."""
        for turn in turns.select_related("session__user")[:MAX_ANSWERED_AGAIN]:
            person = turn.session.user.get_username()
            give_back_connections()
            try:
                async_to_sync(_answer_again)(turn)
            except Refused as refusal:
                self.message_user(request, f"{person}: {refusal}", messages.WARNING)
            except Session.DoesNotExist:
                self.message_user(request, f"{person}: the conversation is gone.", messages.WARNING)
            else:
                self.log_change(request, turn, "Answered again.")
                self.message_user(request, f"{person}: Sage is answering again.", messages.SUCCESS)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        turn = self.get_object(request, object_id)
        context = {**(extra_context or {}), "trace": _trace_of(turn) if turn else None}
        return super().change_view(request, object_id, form_url, context)


async def _answer_again(turn: Turn) -> None:
    """Open a turn that answers the same message. Raises `Refused`, `Session.DoesNotExist`."""
    session = turn.session
    if turn.status not in FAILED:
        raise Refused("This turn neither failed nor was interrupted.")
    if not await in_database(is_last_turn, turn):
        raise Refused("The conversation has gone on since.")
    await get_runner().open_turn(TurnRequest(kind="retry", user_id=session.user_id, session_id=session.id))


def _trace_of(turn: Turn) -> TurnTrace:
    calls = turn.calls.order_by("round_number", "position")
    verdict = SafetyVerdict.within(turn.session).filter(message__turn=turn).first()
    return read_trace(turn, calls, read_spending_of_turn(turn.id), verdict)
