"""Profiles: what an operator may put right for a person."""

from django.contrib import admin

from coaching.models import Profile


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A person's name, clock and check-in day."""

    list_display = ("user", "name", "timezone", "checkin_weekday", "next_checkin_on")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email", "name")
    readonly_fields = ("user",)

    def has_add_permission(self, request: object) -> bool:
        """Say no: a profile is made on first need."""
        return False
