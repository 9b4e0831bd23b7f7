"""Help lines, which operators maintain, and read-only card counts and verdicts."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from coaching.models import CaptureVerdict, CardCount, HelpLine
from coaching.people.help_lines import line_of
from coaching.safety.countries import COUNTRY_NAMES
from sessions_app.admin import ReadOnlyMixin
from sessions_app.models import SafetyVerdict
from sessions_app.money import small_dollars

CHECKED_FOR = timedelta(days=183)
"""Numbers change: after half a year somebody should call them again."""


class LastChecked(admin.SimpleListFilter):
    """Which lines somebody should check again."""

    title = "last check"
    parameter_name = "check"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("due", "Not checked for six months"), ("never", "Never checked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[HelpLine]) -> QuerySet[HelpLine]:
        if self.value() == "due":
            is_old = Q(checked_on__lt=timezone.now().date() - CHECKED_FOR)
            return queryset.filter(is_old | Q(checked_on=None), is_active=True)
        return queryset.filter(checked_on=None) if self.value() == "never" else queryset


@admin.register(HelpLine)
class HelpLineAdmin(admin.ModelAdmin):
    """Lines by country. A shipped line is switched off, not deleted: the next version would add it again."""

    list_display = (
        "title", "country_name", "kind", "phone", "text", "hours", "is_active", "checked_on", "is_edited",
    )  # fmt: skip
    list_editable = ("is_active", "checked_on")
    list_filter = (LastChecked, "kind", "is_active", "country")
    search_fields = ("name", "=country", "phone", "url")
    fields = (
        "country", "kind", "name", "note", "phone", "text", "url", "hours", "language", "order", "is_active",
        "checked_on",
    )  # fmt: skip

    list_per_page = 50
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    @admin.display(description="Name", ordering="name")
    def title(self, line: HelpLine) -> str:
        return line_of(line).title

    @admin.display(description="Country", ordering="country")
    def country_name(self, line: HelpLine) -> str:
        return COUNTRY_NAMES.get(line.country, line.country) or "Anywhere"

    @admin.display(description="Edited", boolean=True)
    def is_edited(self, line: HelpLine) -> bool:
        return any(getattr(line, name) != value for name, value in line.shipped.items())

    def has_delete_permission(self, request: HttpRequest, obj: HelpLine | None = None) -> bool:
        """Shipped lines can't be deleted."""
        return (obj is None or obj.key is None) and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Remove the bulk delete action: some of the lines may be shipped."""
        return {
            name: action for name, action in super().get_actions(request).items() if name != "delete_selected"
        }


@admin.register(CardCount)
class CardCountAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """How often the card was shown, by day and level: never to whom, in which conversation or why."""

    list_display = ("day", "level", "shown")
    list_filter = ("level",)
    date_hierarchy = "day"
    fields = list_display
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[CardCount]:
        counts: QuerySet[CardCount] = super().get_queryset(request)
        return counts.order_by("-day", "level")


class VerdictAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """What was noticed in people's words, and how the second look went; never the words."""

    list_filter = ("level", "looked", "model", "created_at")
    date_hierarchy = "created_at"
    show_full_result_count = False
    ordering = ("-created_at",)

    @admin.display(description="Cost", ordering="usage__cost_micro_usd")
    def cost(self, verdict: SafetyVerdict | CaptureVerdict) -> str:
        """Return what a second look cost; it is unknown where no answer came."""
        return small_dollars(verdict.usage.cost_micro_usd) if verdict.usage else "–"


@admin.register(SafetyVerdict)
class SafetyVerdictAdmin(VerdictAdmin):
    list_display = (
        "created_at", "person", "level", "looked", "milliseconds", "model", "cost", "session", "number",
    )  # fmt: skip
    list_select_related = ("session__user", "usage")
    search_fields = ("=session__id", "session__user__username", "session__user__email")
    fields = (
        "created_at", "person", "session", "number", "level", "about", "topic", "looked", "noticed",
        "is_foreign", "milliseconds", "model", "cost",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[SafetyVerdict]:
        verdicts: QuerySet[SafetyVerdict] = super().get_queryset(request)
        return verdicts.annotate(message_number=F("message__number"))

    @admin.display(description="Person", ordering="session__user__username")
    def person(self, verdict: SafetyVerdict) -> str:
        return verdict.session.user.get_username()

    @admin.display(description="Message")
    def number(self, verdict: SafetyVerdict) -> int:
        return int(getattr(verdict, "message_number", 0))


@admin.register(CaptureVerdict)
class CaptureVerdictAdmin(VerdictAdmin):
    list_display = (
        "created_at", "person", "level", "by_rules", "looked", "milliseconds", "model", "cost", "number",
    )  # fmt: skip
    list_select_related = ("version__file__user", "usage")
    search_fields = ("version__file__user__username", "version__file__user__email")
    fields = (
        "created_at", "person", "number", "level", "by_rules", "about", "topic", "looked", "look_due_at",
        "is_shown", "milliseconds", "model", "cost",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[CaptureVerdict]:
        verdicts: QuerySet[CaptureVerdict] = super().get_queryset(request)
        return verdicts.defer("version__content")

    @admin.display(description="Person", ordering="version__file__user__username")
    def person(self, verdict: CaptureVerdict) -> str:
        return verdict.version.file.user.get_username()

    @admin.display(description="Version")
    def number(self, verdict: CaptureVerdict) -> int:
        """Return which version of its capture it is about: the first, or an edit."""
        return verdict.version.number
