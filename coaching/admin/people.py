"""Profiles and second factors: what an operator may correct for a person."""

import allauth.mfa.admin  # noqa: F401 - registers its page before ours replaces it
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from coaching.admin.accounts import may_touch
from coaching.models import Profile
from sessions_app.admin import ShownFieldsMixin


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin):
    """A person's name, clock and check-in day, and how many programs may act for them."""

    list_display = ("user", "name", "timezone", "checkin_weekday", "next_checkin_on", "programs")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email", "name")
    readonly_fields = ("user",)

    def has_add_permission(self, request: object) -> bool:
        """Profiles are created on first use."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Profile]:
        """Count the tokens; operators see neither their names nor what they may do."""
        rows: QuerySet[Profile] = super().get_queryset(request)
        return rows.annotate(programs=Count("user__program_tokens"))

    @admin.display(ordering="programs")
    def programs(self, profile: Profile) -> int:
        """Return the number of a person's programs."""
        counted: int = profile.__dict__["programs"]
        return counted


# Allauth's own page, which is registered by then, shows the secrets.
admin.site.unregister(Authenticator)


@admin.register(Authenticator)
class AuthenticatorAdmin(ShownFieldsMixin, admin.ModelAdmin):
    """Second factors and passkeys without their secrets. Deleting one helps somebody who lost their phone."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_select_related = ("user",)
    list_filter = ("type",)
    search_fields = ("user__username", "user__email")
    fields = ("user", "type", "created_at", "last_used_at")

    def has_add_permission(self, request: object) -> bool:
        """Only their owner sets them up."""
        return False

    def has_change_permission(self, request: object, obj: object = None) -> bool:
        """Nobody changes them."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        """Other staff leave a superuser's account as safe as it is."""
        return super().has_delete_permission(request, obj) and may_touch(request, obj and obj.user)
