"""Briefs for operators: versions with their lag and cost, sessions that are behind, and writing one again.

The text is shown on one page only, to staff with the permission to read messages.
"""

import uuid
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone

from coaching.admin.transcripts import TranscriptAdmin
from coaching.job_queue.sessions import BRIEF_ATTEMPTS, enqueue_brief_anew
from coaching.turns.preview import preview_request
from sessions_app.admin import NewestRows, ReadOnlyMixin, page_of_row, row_to_read, words_response
from sessions_app.figures import sessions_with_brief_behind
from sessions_app.models import Session, SessionBrief
from sessions_app.money import small_dollars

MAX_WRITTEN_AGAIN = 100
VERSION_FIELDS = (
    "version", "covers_from", "covers_until", "model", "lag", "cost", "is_withdrawn", "created_at",
)  # fmt: skip


class VersionMixin(ReadOnlyMixin):
    @admin.display(description="Lag", ordering="lag_seconds")
    def lag(self, brief: SessionBrief) -> str:
        """Return the time from the oldest message that the version adds until it was stored."""
        minutes, seconds = divmod(brief.lag_seconds, 60)
        hours, minutes = divmod(minutes, 60)
        if hours:
            return f"{hours} h {minutes} min"
        return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"

    @admin.display(description="Cost", ordering="cost_micro_usd")
    def cost(self, brief: SessionBrief) -> str:
        """Return what all requests cost that the version took."""
        return small_dollars(brief.cost_micro_usd)


class BriefInline(VersionMixin, admin.TabularInline):
    """A session's newest versions, without their text."""

    model = SessionBrief
    formset = NewestRows
    verbose_name_plural = "Briefs (the newest)"
    fields = VERSION_FIELDS
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    ordering = ("-version",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SessionBrief]:
        rows: QuerySet[SessionBrief] = super().get_queryset(request)
        return rows.defer("text")


class BriefState(admin.SimpleListFilter):
    """Which sessions the start page's figures about briefs are of."""

    title = "brief"
    parameter_name = "brief"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("behind", "Behind"), ("failing", f"Failed {BRIEF_ATTEMPTS} times or more")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "behind":
            return queryset.filter(pk__in=sessions_with_brief_behind(now=timezone.now()))
        if self.value() == "failing":
            return queryset.filter(brief_attempts__gte=BRIEF_ATTEMPTS)
        return queryset


@admin.register(Session)
class BriefedSessionAdmin(TranscriptAdmin):
    list_display = (*TranscriptAdmin.list_display[:-1], "behind", "id")
    list_filter = (BriefState, *TranscriptAdmin.list_filter)
    fields = (*TranscriptAdmin.fields, "brief_covers", "brief_attempts")
    readonly_fields = fields
    inlines = (*TranscriptAdmin.inlines, BriefInline)
    actions = ("write_again",)

    def has_regenerate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_sessionbrief")

    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.prompt, "prompt", takes="uuid"), *super().get_urls()]

    def prompt(self, request: HttpRequest, row_id: uuid.UUID) -> HttpResponse:
        """Show what the next message would send to the model, to an operator who may read it."""
        session = row_to_read(request, self, Session.unscoped.select_related("user"), row_id)
        preview = preview_request(user_id=session.user_id, now=timezone.now(), session=session)
        return words_response(
            request,
            self,
            "admin/sessions_app/session/prompt.html",
            title=f"Next request of {session}",
            session=session,
            preview=preview,
        )

    @admin.display(description="Messages after the brief")
    def behind(self, session: Session) -> int:
        return session.last_message_number - session.brief_covers

    @admin.action(description="Write the brief again", permissions=["regenerate"])
    def write_again(self, request: HttpRequest, sessions: QuerySet[Session]) -> None:
        """Queue briefs from all messages of these sessions."""
        chosen = list(sessions.defer("opening")[:MAX_WRITTEN_AGAIN])
        for session in chosen:
            enqueue_brief_anew(session, is_bulk=True)
            self.log_change(request, session, "Had the brief written again.")
        self.message_user(request, f"{len(chosen)} queued.", messages.SUCCESS)


@admin.register(SessionBrief)
class BriefAdmin(VersionMixin, admin.ModelAdmin):
    """Versions of briefs, read-only."""

    list_display = ("person", *VERSION_FIELDS, "session")
    list_filter = ("is_withdrawn", "model", "created_at")
    list_select_related = ("session__user",)
    search_fields = ("=session__id", "session__user__username", "session__user__email")
    show_full_result_count = False
    ordering = ("-id",)
    fields = ("session", *VERSION_FIELDS, "usage")
    readonly_fields = fields
    change_form_template = "admin/sessions_app/sessionbrief/change_form.html"

    @admin.display(description="Person", ordering="session__user__username")
    def person(self, brief: SessionBrief) -> str:
        return brief.session.user.get_username()

    def get_queryset(self, request: HttpRequest) -> QuerySet[SessionBrief]:
        rows: QuerySet[SessionBrief] = super().get_queryset(request)
        return rows.defer("text")

    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.words, "words"), *super().get_urls()]

    def words(self, request: HttpRequest, row_id: int) -> HttpResponse:
        """Show a version's text, to an operator who may read it, and log the look."""
        brief = row_to_read(request, self, SessionBrief.unscoped.select_related("session"), row_id)
        return words_response(
            request,
            self,
            "admin/sessions_app/sessionbrief/words.html",
            title=str(brief),
            brief=brief,
            corrections=brief.session.brief_corrections.order_by("pk"),
        )
