"""What operators see of sessions: who, when, how long, how it ended, what it cost. Nothing is changed here.

Words are shown on one page only, to staff with a permission of its own, and every look is logged.
"""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import structlog
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, QuerySet, Sum
from django.db.models.functions import Length
from django.forms.models import BaseInlineFormSet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from sessions_app.models import Message, ModelUsage, Round, Session, ToolCallRecord, Turn
from sessions_app.money import small_dollars

ROWS_LISTED = 50
READ_TEXT = "sessions_app.read_message_text"
RowT = TypeVar("RowT", bound=Model)

logger = structlog.get_logger(__name__)


def log_look(request: HttpRequest, seen: Model) -> None:
    """Log that this operator looked at somebody's words: in the admin's own log and in the process's."""
    LogEntry.objects.create(
        user=cast("User", request.user),
        content_type=ContentType.objects.get_for_model(seen),
        object_id=str(seen.pk),
        object_repr=str(seen)[:200],
        action_flag=CHANGE,
        change_message="Read the words.",
    )
    logger.info(
        "operator_read_words", operator_id=request.user.pk, model=type(seen).__name__, object_id=str(seen.pk)
    )


def page_of_row(
    pages: Any, view: Callable[..., HttpResponse], name: str, *, takes: str = "int"
) -> URLPattern:
    """Return the pattern of a page about one row, which is looked at and not changed."""
    pattern: URLPattern = path(
        f"<{takes}:row_id>/{name}/",
        pages.admin_site.admin_view(require_safe(view)),
        name=f"{pages.opts.app_label}_{pages.opts.model_name}_{name}",
    )
    return pattern


def readable_row(request: HttpRequest, pages: Any, rows: "QuerySet[RowT]", row_id: object) -> RowT:
    """Return a row whose words an operator may read. Raises `PermissionDenied`, `Http404`."""
    if not (request.user.has_perm(READ_TEXT) and pages.has_view_permission(request)):
        raise PermissionDenied
    row = rows.filter(pk=row_id).first()
    if row is None:
        raise Http404
    return row


def row_to_read(request: HttpRequest, pages: Any, rows: "QuerySet[RowT]", row_id: object) -> RowT:
    """Return a row whose words an operator may read, and log it. Raises as `readable_row` does."""
    row = readable_row(request, pages, rows, row_id)
    log_look(request, row)
    return row


def words_response(request: HttpRequest, pages: Any, template: str, **context: object) -> HttpResponse:
    """Return a page of a row's words."""
    shared = pages.admin_site.each_context(request)
    return TemplateResponse(request, template, {**shared, **context, "opts": pages.opts})


def _name_of_filter(item: Any) -> str:
    """Return the field of a filter, or the parameter of one that has a class."""
    named = item[0] if isinstance(item, tuple | list) else item
    return str(getattr(named, "parameter_name", named))


class ShownFieldsMixin:
    """Finds rows only by what it shows."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow conditions on shown fields only; on hidden ones they would give the words away bit by bit."""
        pages: Any = self
        filters = [_name_of_filter(item) for item in pages.list_filter]
        fields = pages.fields or [field.name for field in pages.opts.concrete_fields]
        shown = {"pk", *pages.list_display, *fields, *filters}
        is_shown = lookup in filters or lookup.partition("__")[0] in shown
        return is_shown and bool(super().lookup_allowed(lookup, value, request))  # type: ignore[misc]


class ReadOnlyMixin(ShownFieldsMixin):
    """Shows rows and changes none."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say no: rows are made by conversations."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say no: people delete their own data, whole."""
        return False


class NewestRows(BaseInlineFormSet):
    """The first rows of a list that grows."""

    rows: QuerySet[Model] | None = None

    def get_queryset(self) -> QuerySet[Model]:
        if self.rows is None:
            self.rows = super().get_queryset()[:ROWS_LISTED]
        return self.rows


class MessageInline(ReadOnlyMixin, admin.TabularInline):
    """A session's newest messages by their size; the page of its words has all."""

    model = Message
    formset = NewestRows
    verbose_name_plural = f"Messages (the newest {ROWS_LISTED})"
    fields = ("number", "role", "characters", "turn", "created_at")
    readonly_fields = fields
    extra = 0
    can_delete = False
    ordering = ("-number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        rows: QuerySet[Message] = super().get_queryset(request).select_related("turn")
        return rows.annotate(character_count=Length("content")).defer("content", "metadata")

    @admin.display(description="Characters")
    def characters(self, message: Message) -> int:
        return int(getattr(message, "character_count", 0))


class TurnInline(ReadOnlyMixin, admin.TabularInline):
    """A session's newest turns and how they ended; the list of turns has all."""

    model = Turn
    formset = NewestRows
    verbose_name_plural = f"Turns (the newest {ROWS_LISTED})"
    fields = ("status", "stop_reason", "failure", "model", "started_at", "ended_at")
    readonly_fields = fields
    extra = 0
    show_change_link = True
    ordering = ("-started_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        return super().get_queryset(request).defer("prefix", "shown")


class UsageInline(ReadOnlyMixin, admin.TabularInline):
    """What a turn's model calls cost."""

    model = ModelUsage
    fields = (
        "purpose", "model", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_5m_tokens",
        "cache_creation_1h_tokens", "cost", "first_token_ms", "duration_ms",
    )  # fmt: skip
    readonly_fields = fields
    extra = 0

    @admin.display(description="Cost")
    def cost(self, usage: ModelUsage) -> str:
        return small_dollars(usage.cost_micro_usd)


class RoundInline(ReadOnlyMixin, admin.TabularInline):
    """A turn's rounds, without their words."""

    model = Round
    fields = ("number", "part", "stop_reason", "is_partial", "model", "upstream_id", "created_at")
    readonly_fields = fields
    extra = 0


class ToolCallInline(ReadOnlyMixin, admin.TabularInline):
    """A turn's calls, without their input and result."""

    model = ToolCallRecord
    fields = ("round_number", "position", "name", "state", "is_error", "created_at", "finished_at")
    readonly_fields = fields
    extra = 0


class SessionAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Sessions, read-only, registered in `coaching.admin`. A title is made of words, so it isn't shown."""

    list_display: tuple[str, ...] = (
        "user",
        "kind",
        "status",
        "last_message_number",
        "last_active_at",
        "id",
    )
    list_display_links = ("user", "id")
    list_filter: ClassVar[tuple[Any, ...]] = ("kind", "status", "last_active_at")
    list_select_related = ("user",)
    search_fields = ("=id", "user__username", "user__email")
    date_hierarchy = "started_at"
    fields: ClassVar[tuple[str, ...]] = (
        "user", "kind", "status", "active_arc", "cost", "last_message_number", "continues", "started_at",
        "last_active_at", "ended_at", "id",
    )  # fmt: skip
    readonly_fields = fields
    inlines: ClassVar[tuple[Any, ...]] = (TurnInline, MessageInline)
    change_form_template = "admin/sessions_app/session/change_form.html"

    @admin.display(description="Cost")
    def cost(self, session: Session) -> str:
        """Return what the session's model calls cost so far, without those whose price isn't known."""
        sums = session.usage.aggregate(cost=Sum("cost_micro_usd"), calls=Count("pk"))
        return small_dollars(sums["cost"] if sums["calls"] else 0)
