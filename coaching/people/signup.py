"""What signing up asks beside address and password: nothing, but the browser's time zone comes along."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest

from coaching.clock.timezones import known_timezones
from coaching.people.profile_changes import open_profile


class SignupForm(forms.Form):
    """The part of the sign-up form that is ours; allauth adds its own. A script fills the field."""

    timezone = forms.CharField(
        required=False, widget=forms.HiddenInput(attrs={"data-browser-timezone": "", "autocomplete": "off"})
    )

    def signup(self, request: HttpRequest, user: User) -> None:
        """Keep the time zone; one that doesn't exist, or none, leaves it open."""
        if self.cleaned_data["timezone"] in known_timezones():
            open_profile(user_id=user.pk, timezone=self.cleaned_data["timezone"])
