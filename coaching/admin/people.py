"""Profiles: what an operator may correct for a person."""

from django.contrib import admin

from coaching.models import Profile


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin):
    """A person's name, clock and check-in day."""

    list_display = ("user", "name", "timezone", "checkin_weekday", "next_checkin_on")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email", "name")
    readonly_fields = ("user",)

    def has_add_permission(self, request: object) -> bool:
        """Profiles are created on first use."""
        return False
