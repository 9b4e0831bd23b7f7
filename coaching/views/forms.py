"""What people send by form. A form only gives fields their shape; rules and refusals are the services'."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User

from coaching.clock.timezones import Group, known_timezones
from coaching.models import Weekday

ACTIONS = (
    ("", "Send"),
    ("stop", "Stop"),
    ("retry", "Try again"),
    ("continue", "Continue"),
    ("dismiss", "Skip"),
    ("edit", "Edit"),
    ("end", "End conversation"),
)


class NewSessionForm(forms.Form):
    """Begin a session, with its first message or without."""

    kind = forms.CharField(max_length=32, required=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)


class CalendarFileForm(forms.Form):
    """Upload a calendar."""

    def __init__(self, data: Any = None, files: Any = None) -> None:
        # Both forms stand on one page.
        super().__init__(data, files, auto_id="upload_%s")

    file = forms.FileField(
        label="Calendar file",
        allow_empty_file=True,
        max_length=1_000,
        error_messages={"required": "Please choose an .ics file first."},
        widget=forms.FileInput(attrs={"accept": ".ics,.ical,.ifb,text/calendar"}),
    )
    name = forms.CharField(label="Name (optional)", max_length=100, required=False)


class CalendarFeedForm(forms.Form):
    """Follow a calendar feed."""

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="feed_%s")

    address = forms.CharField(
        label="Address of the feed",
        max_length=2_000,
        error_messages={"required": "Enter the address of the feed. It starts with https:// or webcal://."},
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "placeholder": "https://… or webcal://…",
            }
        ),
    )
    name = forms.CharField(label="Name (optional)", max_length=100, required=False)


class MessageForm(forms.Form):
    """Say something in a session, answer its pending call, or act on its last turn (`do`)."""

    do = forms.ChoiceField(choices=ACTIONS, required=False)
    tool_use_id = forms.CharField(max_length=100, required=False)
    value = forms.CharField(required=False, strip=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)


class ProfileForm(forms.Form):
    """Who the person is to Sage."""

    name = forms.CharField(
        max_length=100,
        required=False,
        label="What should Sage call you?",
        widget=forms.TextInput(attrs={"autocomplete": "given-name"}),
    )
    timezone = forms.ChoiceField(
        label="Time zone", help_text="Sage uses it for days, greetings and the times in your conversations."
    )
    checkin_weekday = forms.TypedChoiceField(
        choices=Weekday.choices,
        coerce=int,
        label="Day of the weekly check-in",
        help_text="Changing the day also moves your next check-in.",
    )

    def __init__(self, *args: Any, timezones: Sequence[Group], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["timezone"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = timezones

    def clean_name(self) -> str:
        """Return the name on one line: it stands in a line of Sage's context."""
        return " ".join(self.cleaned_data["name"].split())


class DeleteAccountForm(forms.Form):
    """Confirm twice: by the password, and by the email address, or a fixed word where there is none."""

    confirmation = forms.CharField(
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    password = forms.CharField(
        strip=False,
        max_length=4096,
        label="Your password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        self._wanted = user.email or "delete"
        self.fields["confirmation"].label = (
            f"Type your email address, {user.email}" if user.email else f"Type “{self._wanted}”"
        )

    def clean_confirmation(self) -> str:
        """Refuse anything else than what the label asks for, in upper or lower case."""
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed.casefold() != self._wanted.casefold():
            raise forms.ValidationError(f"That doesn’t match {self._wanted}.")
        return typed

    def clean_password(self) -> str:
        """Refuse a wrong one."""
        password: str = self.cleaned_data["password"]
        if not self._user.check_password(password):
            raise forms.ValidationError("That isn’t your password.")
        return password


class TimezoneForm(forms.Form):
    """Take another time zone over, or keep the one that holds, and go `back` to the page it was asked on."""

    timezone = forms.CharField(max_length=64)
    back = forms.CharField(max_length=500, required=False)

    def clean_timezone(self) -> str:
        """Refuse what is no time zone."""
        name: str = self.cleaned_data["timezone"]
        if name not in known_timezones():
            raise forms.ValidationError("Choose a time zone from the list.")
        return name


class CaptureForm(forms.Form):
    """Keep a thought. `then` is the page that its sender is on and comes back to."""

    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
    then = forms.ChoiceField(choices=(("", "Captures"), ("home", "Home")), required=False)


class CaptureActionForm(forms.Form):
    """Put a capture away, or bring it back."""

    do = forms.ChoiceField(choices=(("put_away", "Archive"), ("bring_back", "Restore")))
    then = forms.ChoiceField(choices=(("", "Captures"), ("home", "Home")), required=False)
    page = forms.IntegerField(min_value=1, max_value=999_999, required=False)


class TickForm(forms.Form):
    """Set whether a priority of a plan is done; its text names it."""

    text = forms.CharField(strip=False)
    done = forms.ChoiceField(choices=(("1", "Done"), ("0", "Not done")))


class PromptForm(forms.Form):
    """Answer a question that Sage left: talk about it, write it down, or put it away."""

    do = forms.ChoiceField(choices=(("talk", "Talk"), ("write", "Write it down"), ("put_away", "Skip")))
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
