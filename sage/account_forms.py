"""Account forms that respond alike, and as fast, for known and unknown addresses.

If mail can be sent, the response doesn't reveal whether an address has an account: everything that depends on
it happens after the response, and only the address's owner learns it, by mail.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from allauth.account import forms
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core import ratelimit
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.forms import Field
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _

from sage.addresses import find_reset_owners, is_taken, is_verification_mandatory
from sage.mail import run_after_response


class _Labelled:
    """Gives the fields of an allauth form our labels, and no placeholders."""

    labels: ClassVar[Mapping[str, Any]]
    fields: dict[str, Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in self.labels.items():
            self.fields[name].label = label
            self.fields[name].widget.attrs.pop("placeholder", None)


class LoginForm(_Labelled, forms.LoginForm):  # type: ignore[misc]  # allauth has no types
    """Signs somebody in with a password."""

    labels = {"login": _("Email or username"), "password": _("Password")}


class SignupForm(_Labelled, forms.SignupForm):  # type: ignore[misc]  # allauth has no types
    """Creates an account that must be confirmed by mail, or notifies the owner of a taken address."""

    labels = {"email": _("Email"), "password1": _("Password"), "password2": _("Password again")}
    field_order = ("name", "email", "password1", "password2")

    def validate_unique_email(self, value: str) -> str:
        """Return the address. Refuse a taken one only if there is no mail to say so."""
        if is_verification_mandatory():
            return value
        refused_if_taken: str = super().validate_unique_email(value)
        return refused_if_taken

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponseBase | None]:
        """Create the account after the response (without mail at once); return the confirming page."""
        if not is_verification_mandatory():
            created: tuple[User | None, HttpResponseBase | None] = super().try_save(request)
            return created
        # Hashing dominates the time. Do it for every address and before the response; otherwise the next
        # request would be slower for a new address.
        password = make_password(self.cleaned_data.pop("password1"))
        run_after_response(partial(self._create_or_notify, request, password))
        return None, get_adapter().respond_email_verification_sent(request, None)

    def _create_or_notify(self, request: HttpRequest, password: str) -> None:
        email = self.cleaned_data["email"]
        may_send = ratelimit.consume(request, action="confirm_email", key=email)
        if is_taken(email):
            if may_send:
                get_adapter().send_account_already_exists_mail(email)
            return
        with transaction.atomic():
            user = self.save(request)
            user.password = password
            user.save(update_fields=["password"])
        if may_send:
            EmailAddress.objects.get(user=user).send_confirmation(request, signup=True)


class ResetPasswordForm(_Labelled, forms.ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """Sends a link to a confirmed address."""

    labels = {"email": _("Email")}

    def clean_email(self) -> str:
        """Return the address. Its owner is looked up after the response."""
        email: str = get_adapter().clean_email(self.cleaned_data["email"].lower())
        return email

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """Queue a mail with the link, or one that says that there is no account."""
        run_after_response(partial(self._send, request, **kwargs))
        email: str = self.cleaned_data["email"]
        return email

    def _send(self, request: HttpRequest, **kwargs: Any) -> None:
        self.users = find_reset_owners(self.cleaned_data["email"])
        super().save(request, **kwargs)


class ChangePasswordForm(_Labelled, forms.ChangePasswordForm):  # type: ignore[misc]  # allauth has no types
    labels = {
        "oldpassword": _("Current password"),
        "password1": _("New password"),
        "password2": _("New password again"),
    }


class SetPasswordForm(_Labelled, forms.SetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """Sets the first password of an account that has none."""

    labels = {"password1": _("Password"), "password2": _("Password again")}


class ResetPasswordKeyForm(_Labelled, forms.ResetPasswordKeyForm):  # type: ignore[misc]  # allauth has no types
    """Sets a new password through a reset link."""

    labels = {"password1": _("New password"), "password2": _("New password again")}


class ReauthenticateForm(_Labelled, forms.ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """Asks for the password again before a change of the account."""

    labels = {"password": _("Password")}


class ChangeAddressForm(_Labelled, forms.AddEmailForm):  # type: ignore[misc]  # allauth has no types
    """Asks the new address to confirm the change; without mail, changes it at once."""

    labels = {"email": _("New address")}

    def clean_email(self) -> str:
        """Return the address. Without mail, refuse one that belongs to another account."""
        email: str = super().clean_email()
        if not is_verification_mandatory() and is_taken(email):
            raise get_adapter().validation_error("email_taken")
        return email

    def save(self, request: HttpRequest) -> EmailAddress:
        """Return the unconfirmed address, or the account's new one if it changed at once."""
        if is_verification_mandatory():
            waiting: EmailAddress = super().save(request)
            return waiting
        with transaction.atomic():
            EmailAddress.objects.filter(user=self.user).delete()
            address: EmailAddress = EmailAddress.objects.create(
                user=self.user, email=self.cleaned_data["email"]
            )
            address.set_as_primary()
        return address
