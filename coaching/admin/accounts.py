"""Accounts, groups and addresses: what opens an account, or gives a right, only a superuser changes.

On Django's own pages whoever may change users sets anybody's password and rights, and so could read what
people said without the permission for it. Other staff may add accounts, correct names, and shut one out.
"""

from typing import Any

from allauth.account.admin import EmailAddressAdmin as AllauthEmailAddressAdmin
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

ACCESS_FIELDS = ("email", "is_staff", "is_superuser", "groups", "user_permissions")
"""The fields of an account that say who gets into it, and what it may do."""

for _model in (User, Group, EmailAddress):  # their own packages' pages are registered by then
    admin.site.unregister(_model)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    """Accounts. Those of superusers are changed and deleted by superusers only."""

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Offer a new password only to those who may set it."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or _is_superuser(request):
            return fieldsets
        return [
            (name, {**options, "fields": [field for field in options["fields"] if field != "password"]})
            for name, options in fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Show other staff who gets into an account, and what it may do."""
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if obj is None or _is_superuser(request) else (*fields, *ACCESS_FIELDS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Other staff can't shut a superuser out."""
        return super().has_change_permission(request, obj) and _may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Other staff can't delete a superuser."""
        return super().has_delete_permission(request, obj) and _may_touch(request, obj)

    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Whoever sets a password can sign in with it."""
        if not _is_superuser(request):
            raise PermissionDenied
        response: HttpResponse = super().user_change_password(request, *args, **kwargs)
        return response


def _may_touch(request: HttpRequest, account: User | None) -> bool:
    return account is None or not account.is_superuser or _is_superuser(request)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin):
    """Groups of staff, with their permissions."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A group gives rights."""
        return super().has_add_permission(request) and _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """A group gives rights."""
        return super().has_change_permission(request, obj) and _is_superuser(request)


@admin.register(EmailAddress)
class EmailAddressAdmin(AllauthEmailAddressAdmin):  # type: ignore[misc]  # the package has no types
    """Addresses. A link for a new password goes to them, so other staff only confirm and remove them."""

    def get_readonly_fields(self, request: HttpRequest, obj: EmailAddress | None = None) -> tuple[str, ...]:
        """Show other staff whose address it is."""
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if _is_superuser(request) else (*fields, "user", "email")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """An address opens an account."""
        return bool(super().has_add_permission(request)) and _is_superuser(request)
