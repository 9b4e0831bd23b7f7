"""Our part of the sign-up form: the browser's time zone."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest

from coaching.clock.timezones import known_timezones
from coaching.people.profile_changes import open_profile


class SignupForm(forms.Form):
    """Added to allauth's own form. A script fills the field."""

    timezone = forms.CharField(
        required=False, widget=forms.HiddenInput(attrs={"data-browser-timezone": "", "autocomplete": "off"})
    )

    def signup(self, request: HttpRequest, user: User) -> None:
        """Store the time zone, unless it is missing or doesn't exist."""
        if self.cleaned_data["timezone"] in known_timezones():
            open_profile(user_id=user.pk, timezone=self.cleaned_data["timezone"])
