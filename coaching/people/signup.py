"""Our part of the sign-up form: what Sage calls the person, and the browser's time zone and language."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from coaching.clock.timezones import known_timezones
from coaching.people.profile_changes import on_one_line, open_profile


class SignupForm(forms.Form):
    """Added to allauth's own form. A script fills in the time zone."""

    name = forms.CharField(
        label=_("What should Sage call you? (optional)"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "given-name"}),
    )
    timezone = forms.CharField(
        required=False, widget=forms.HiddenInput(attrs={"data-browser-timezone": "", "autocomplete": "off"})
    )

    def clean_name(self) -> str:
        return on_one_line(self.cleaned_data["name"])

    def signup(self, request: HttpRequest, user: User) -> None:
        """Store the name, the form's language, and the time zone unless it is missing or doesn't exist."""
        timezone = self.cleaned_data["timezone"]
        known = timezone if timezone in known_timezones() else ""
        open_profile(
            user_id=user.pk, name=self.cleaned_data["name"], timezone=known, language=get_language() or ""
        )
