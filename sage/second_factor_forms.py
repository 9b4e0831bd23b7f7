"""The forms of second factors: our words, and limits on what a browser sends."""

import json
from typing import Any

from allauth.core import context
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from sage.second_factor import MAX_PASSKEYS
from sage.sign_in_attempts import count_attempt

MAX_CREDENTIAL_CHARS = 20_000
"""A credential has one to four thousand; attestations of security keys are the longest."""

_UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What fido2 raises for a credential of another shape."""


class _Code:
    """Labels the field of a code and asks for digits on a phone."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["code"]
        field.label = self.label
        field.widget.attrs.pop("placeholder", None)
        field.widget.attrs |= {"inputmode": "numeric", "autocomplete": "one-time-code", "autofocus": True}

    label: Any = _("Code")


class _CodeOnce(_Code):
    """Accepts a code once: allauth forgets a used one after its period, when the next one is due."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Return the code. Refuse one that was used before, and all over the limit."""
        take_back = count_attempt(context.request, "code", user_id=self.user.pk)
        if take_back is None:
            raise get_adapter().validation_error("too_many_codes")
        code: str = super().clean_code()  # type: ignore[misc]  # allauth's form
        if self.authenticator.type == Authenticator.Type.TOTP:
            key = f"used-code-{self.user.pk}-{''.join(filter(str.isdigit, code))}"
            seconds = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
            if not cache.add(key, "", timeout=seconds):
                raise get_adapter().validation_error("incorrect_code")
        take_back()
        return code


class SignInCodeForm(_CodeOnce, base.AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The second step of a sign-in: a code of the app, or a recovery code."""

    label = _("Code from your app, or a recovery code")


class ConfirmCodeForm(_CodeOnce, base.ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """A code before a change of the account."""

    label = _("Code from your app, or a recovery code")


class ActivateAppForm(_Code, totp.ActivateTOTPForm):  # type: ignore[misc]  # allauth has no types
    """The first code of an authenticator app."""

    label = _("Code from the app")


class _Credential:
    """Refuses an unreadable credential in words; allauth's forms expect the shape that a browser sends."""

    cleaned_data: dict[str, Any]

    refusal = "passkey_failed"

    def clean_credential(self) -> Authenticator:
        """Return the passkey that signed."""
        try:
            found: Authenticator = super().clean_credential()  # type: ignore[misc]  # allauth's form
        except ValidationError as error:
            if error.code == "incorrect_code":
                raise get_adapter().validation_error(self.refusal) from None
            raise
        except _UNREADABLE:
            raise get_adapter().validation_error(self.refusal) from None
        return found


class SignInPasskeyForm(_Credential, webauthn.LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    refusal = "unknown_passkey"


class SecondStepPasskeyForm(_Credential, webauthn.AuthenticateWebAuthnForm):  # type: ignore[misc]  # no types
    """The second step of a sign-in."""


class ConfirmPasskeyForm(_Credential, webauthn.ReauthenticateWebAuthnForm):  # type: ignore[misc]  # no types
    """A passkey before a change of the account."""


class _NeverRepeated(forms.HiddenInput):
    """Leaves the field of a refused form empty."""

    def format_value(self, _value: object) -> str:
        return ""


class AddPasskeyForm(webauthn.AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Adds a passkey, which can always sign in alone."""

    name = forms.CharField(label=_("Name"), max_length=100, required=False)
    credential = forms.JSONField(widget=_NeverRepeated)
    passwordless = forms.BooleanField(required=False, initial=True, widget=forms.HiddenInput)

    def clean_credential(self) -> Any:
        """Return the credential. Only ASCII of bounded length is stored."""
        credential = self.cleaned_data["credential"]
        text = json.dumps(credential)
        if len(text) > MAX_CREDENTIAL_CHARS or "\\u" in text:
            raise get_adapter().validation_error("passkey_failed")
        return credential

    def clean(self) -> dict[str, Any]:
        """Check the number of passkeys and the credential."""
        kept = Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN)
        if kept.count() >= MAX_PASSKEYS:
            raise get_adapter().validation_error("too_many_passkeys", MAX_PASSKEYS)
        try:
            cleaned: dict[str, Any] = super().clean()
        except (ValidationError, *_UNREADABLE):
            raise get_adapter().validation_error("passkey_failed") from None
        return cleaned


class RenamePasskeyForm(webauthn.EditWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    name = forms.CharField(label=_("Name"), max_length=100)
