"""Help lines, which operators keep right, and the count of cards, which nobody can change."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from coaching.models import CardCount, HelpLine
from coaching.safety.countries import COUNTRY_NAMES
from sessions_app.admin import ReadOnlyMixin


@admin.register(HelpLine)
class HelpLineAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lines by country. A shipped one is switched off, not deleted: the next version would bring it back."""

    list_display = (
        "name",
        "country_name",
        "kind",
        "phone",
        "text",
        "hours",
        "is_active",
        "checked_on",
        "is_edited",
    )
    list_editable = ("is_active", "checked_on")
    list_filter = ("kind", "is_active", "checked_on", "country")
    search_fields = ("name", "=country", "phone", "url")
    fields = (
        "country", "kind", "name", "phone", "text", "url", "hours", "language", "order", "is_active",
        "checked_on",
    )  # fmt: skip

    list_per_page = 300
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    @admin.display(description="Country", ordering="country")
    def country_name(self, line: HelpLine) -> str:
        """Return the country in words."""
        return COUNTRY_NAMES.get(line.country, line.country) or "Anywhere"

    @admin.display(description="Edited", boolean=True)
    def is_edited(self, line: HelpLine) -> bool:
        """Say whether the line says something else than the shipped one."""
        return any(getattr(line, name) != value for name, value in line.shipped.items())

    def has_delete_permission(self, request: HttpRequest, obj: HelpLine | None = None) -> bool:
        """Say no for a shipped line."""
        return (obj is None or obj.key is None) and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the actions without the one that deletes many at once: some of them may be shipped."""
        return {
            name: action for name, action in super().get_actions(request).items() if name != "delete_selected"
        }


@admin.register(CardCount)
class CardCountAdmin(ReadOnlyMixin, admin.ModelAdmin):  # type: ignore[type-arg]
    """How often the card was shown, by day and level: never to whom, in which conversation or why."""

    list_display = ("day", "level", "shown")
    list_filter = ("level",)
    date_hierarchy = "day"
    fields = list_display
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[CardCount]:
        """Return the counts, the last day first."""
        counts: QuerySet[CardCount] = super().get_queryset(request)
        return counts.order_by("-day", "level")
