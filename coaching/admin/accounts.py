"""Accounts, groups and addresses: what opens an account, or gives a right, only a superuser changes.

On Django's own pages whoever may change users sets anybody's password and rights, and so could read what
people said without the permission for it. Other staff may add accounts, correct names, shut one out, and
confirm and remove addresses, except of superusers.
"""

from typing import Any

from allauth.account.admin import EmailAddressAdmin as AllauthEmailAddressAdmin
from allauth.account.models import EmailAddress
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

ACCESS_FIELDS = ("email", "is_staff", "is_superuser", "groups", "user_permissions")
"""The fields of an account that say who gets into it, and what it may do."""

ANOTHERS_NAME = "At sign-in, this stands for another account."
ANOTHERS_ADDRESS = "Another account has this address. Only a superuser says whose it is."

for _model in (User, Group, EmailAddress):  # their own packages' pages are registered by then
    admin.site.unregister(_model)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))


def may_touch(request: HttpRequest, account: User | None) -> bool:
    """Return whether these staff may change this account: a superuser's only if they are one."""
    return account is None or not account.is_superuser or _is_superuser(request)


def _holders_of(login: str) -> QuerySet[User]:
    """Return the accounts that a username or an address may stand for at sign-in."""
    confirmed = Q(emailaddress__email__iexact=login, emailaddress__verified=True)
    return User.objects.filter(Q(username__iexact=login) | Q(email__iexact=login) | confirmed)


class _OwnNameMixin:
    """Refuses a username that stands for somebody else at sign-in, where it counts before an address."""

    def clean(self) -> Any:
        form: Any = self
        cleaned = super().clean()  # type: ignore[misc]  # of the form that this is mixed into
        name = form.cleaned_data.get("username")
        is_new = bool(name) and "username" in form.changed_data
        if is_new and _holders_of(name).exclude(pk=form.instance.pk).exists():
            form.add_error("username", ANOTHERS_NAME)
        return cleaned


class _NewAccountForm(_OwnNameMixin, AdminUserCreationForm):
    pass


class _AccountForm(_OwnNameMixin, UserChangeForm):
    pass


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    """Accounts. Those of superusers are changed and deleted by superusers only."""

    form = _AccountForm
    add_form = _NewAccountForm

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
        return super().has_change_permission(request, obj) and may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Other staff can't delete a superuser."""
        return super().has_delete_permission(request, obj) and may_touch(request, obj)

    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Whoever sets a password can sign in with it."""
        if not _is_superuser(request):
            raise PermissionDenied
        response: HttpResponse = super().user_change_password(request, *args, **kwargs)
        return response


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin):
    """Groups of staff, with their permissions."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A group gives rights."""
        return super().has_add_permission(request) and _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """A group gives rights."""
        return super().has_change_permission(request, obj) and _is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Without a group, its members lose rights."""
        return super().has_delete_permission(request, obj) and _is_superuser(request)


def _is_anothers(address: EmailAddress) -> bool:
    return _holders_of(address.email).exclude(pk=address.user_id).exists()


class _ConfirmForm(forms.ModelForm):
    """Confirms an address, unless that would take it from another account."""

    def clean_verified(self) -> bool:
        verified: bool = self.cleaned_data["verified"]
        if verified and not self.instance.verified and _is_anothers(self.instance):
            raise ValidationError(ANOTHERS_ADDRESS)
        return verified


@admin.register(EmailAddress)
class EmailAddressAdmin(AllauthEmailAddressAdmin):  # type: ignore[misc]  # the package has no types
    """Addresses. A link for a new password goes to them, so other staff only confirm and remove them."""

    def get_form(
        self, request: HttpRequest, obj: EmailAddress | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Let other staff confirm no address that another account has."""
        form = {} if _is_superuser(request) else {"form": _ConfirmForm}
        return super().get_form(request, obj, change, **form | kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: EmailAddress | None = None) -> tuple[str, ...]:
        """Show other staff whose address it is."""
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if _is_superuser(request) else (*fields, "user", "email", "primary")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """An address opens an account."""
        return bool(super().has_add_permission(request)) and _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        """Other staff can't shut a superuser out."""
        return bool(super().has_change_permission(request, obj)) and may_touch(request, obj and obj.user)

    def has_delete_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        """Other staff can't shut a superuser out."""
        return bool(super().has_delete_permission(request, obj)) and may_touch(request, obj and obj.user)

    @admin.action(description="Mark selected email addresses as verified", permissions=["change"])
    def make_verified(self, request: HttpRequest, queryset: QuerySet[EmailAddress]) -> None:
        """Confirm addresses as one by one; allauth's own action asks for no permission."""
        chosen = list(queryset.select_related("user").filter(verified=False))
        if not _is_superuser(request):
            for address in [each for each in chosen if each.user.is_superuser or _is_anothers(each)]:
                chosen.remove(address)
                self.message_user(request, f"{address.email}: {ANOTHERS_ADDRESS}", messages.ERROR)
        super().make_verified(request, queryset.filter(pk__in=[address.pk for address in chosen]))
