"""The forms. They only shape fields; services have the rules and refusals.

Over 300 lines, because it is a list of forms.
"""

from collections.abc import Collection, Mapping
from datetime import time
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from coaching.clock.timezones import known_timezones
from coaching.models import ReminderKind
from coaching.people.profile_changes import on_one_line
from coaching.people.timezone_choices import find_timezone
from coaching.views.edit_forms import EditForm

ACTIONS = (
    ("", "Send"),
    ("stop", "Stop"),
    ("retry", "Try again"),
    ("again", "Answer again"),
    ("continue", "Continue"),
    ("dismiss", "Skip"),
    ("edit", "Edit"),
    ("end", "End conversation"),
)


class NewSessionForm(forms.Form):
    """Start a session, with or without a first message."""

    kind = forms.CharField(max_length=32, required=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
    client = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    project = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)


class CalendarFileForm(forms.Form):
    def __init__(self, data: Any = None, files: Any = None) -> None:
        # Both forms are on one page.
        super().__init__(data, files, auto_id="upload_%s")

    file = forms.FileField(
        label=_("Calendar file"),
        allow_empty_file=True,
        max_length=1_000,
        error_messages={"required": _("Please choose an .ics file first.")},
        widget=forms.FileInput(attrs={"accept": ".ics,.ical,.ifb,text/calendar"}),
    )
    name = forms.CharField(label=_("Name (optional)"), max_length=100, required=False)


class ImportForm(forms.Form):
    """Upload another program's export."""

    file = forms.FileField(
        label=_("File"),
        allow_empty_file=True,
        max_length=1_000,
        error_messages={"required": _("Please choose a file first.")},
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl,.zip,application/json,application/zip"}),
    )


class ShownDocumentsForm(forms.Form):
    """The documents that a page has shown: up to the id `newest`."""

    newest = forms.IntegerField(min_value=1, max_value=2**63 - 1)


class CalendarFeedForm(forms.Form):
    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="feed_%s")

    address = forms.CharField(
        label=_("Address of the feed"),
        max_length=2_000,
        error_messages={
            "required": _("Enter the address of a calendar feed. It starts with https:// or webcal://.")
        },
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "placeholder": _("https://… or webcal://…"),
            }
        ),
    )
    name = forms.CharField(label=_("Name (optional)"), max_length=100, required=False)


class MessageForm(forms.Form):
    """Send a message, answer the session's pending call, or act on its last turn (`do`)."""

    do = forms.ChoiceField(choices=ACTIONS, required=False)
    tool_use_id = forms.CharField(max_length=100, required=False)
    value = forms.CharField(required=False, strip=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)


class TitleForm(forms.Form):
    """Rename a conversation; the service has the limits."""

    title = forms.CharField(required=False, strip=False)
    then = forms.CharField(max_length=20, required=False)


class OrganiseForm(forms.Form):
    """What to do with a conversation, and the list to go back to."""

    ACTIONS = ("pin", "unpin", "archive", "unarchive", "delete", "restore")

    do = forms.ChoiceField(choices=[(name, name) for name in ACTIONS])
    then = forms.CharField(max_length=20, required=False)


class LineField(forms.CharField):
    """Text on one line, because it is one in Sage's context."""

    def to_python(self, value: object) -> str:
        """Join the lines."""
        return on_one_line(super().to_python(value) or "")


class ProfileForm(EditForm):
    """The profile that Sage uses."""

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, made_with={"initial": initial}, initial=initial)
        self.carry()

    name = LineField(
        max_length=100,
        required=False,
        label=_("What should Sage call you?"),
        widget=forms.TextInput(attrs={"autocomplete": "given-name"}),
    )
    timezone = forms.CharField(
        label=_("Time zone"),
        max_length=100,
        help_text=_(
            "Type your city and choose from the list. Sage uses it for days, greetings and times. Your day "
            "lasts until 04:00: what happens at 01:30 has the date of the day before, on all pages."
        ),
        error_messages={"required": _("Type a city, such as Berlin, and choose it from the list.")},
        widget=forms.TextInput(attrs={"list": "timezones", "autocomplete": "off", "spellcheck": "false"}),
    )
    checkin_weekday = forms.TypedChoiceField(
        choices=tuple(WEEKDAYS.items()),
        coerce=int,
        label=_("Day of the weekly check-in"),
        help_text=_("Changing the day also moves your next check-in."),
    )

    language = forms.ChoiceField(
        choices=[("", _("As in your browser")), *settings.LANGUAGES],
        required=False,
        label=_("Language"),
        help_text=_("For pages, emails and notifications. Sage answers in the language that you write in."),
    )

    def clean_timezone(self) -> str:
        """Return the time zone's name."""
        typed: str = self.cleaned_data["timezone"]
        if name := find_timezone(typed):
            return name
        raise forms.ValidationError(
            _("Sage doesn’t know “%(typed)s”. Type a larger city near you and choose it from the list."),
            params={"typed": typed},
        )


class DeleteAccountForm(forms.Form):
    """Confirm deletion by password and email address, or by a fixed word if there is no address."""

    confirmation = forms.CharField(
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    password = forms.CharField(
        strip=False,
        max_length=4096,
        label=_("Your password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        self._wanted = user.email or pgettext("word to type", "delete")
        self.fields["confirmation"].label = (
            gettext("Type your email address, %(email)s, to confirm") % {"email": user.email}
            if user.email
            else gettext("Type “%(word)s” to confirm") % {"word": self._wanted}
        )

    def clean_confirmation(self) -> str:
        """Require exactly the text in the label, ignoring case."""
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed.casefold() != self._wanted.casefold():
            raise forms.ValidationError(_("That doesn’t match %(wanted)s."), params={"wanted": self._wanted})
        return typed

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self._user.check_password(password):
            raise forms.ValidationError(_("That isn’t your password."))
        return password


class TimezoneForm(forms.Form):
    """Adopt another time zone or keep the current one, then return to `back`."""

    timezone = forms.CharField(max_length=64)
    back = forms.CharField(max_length=500, required=False)

    def clean_timezone(self) -> str:
        name: str = self.cleaned_data["timezone"]
        if name not in known_timezones():
            raise forms.ValidationError(_("Choose a time zone from the list."))
        return name


class CaptureForm(forms.Form):
    """Add a capture. `then` is the page that its sender is on and returns to."""

    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
    then = forms.ChoiceField(choices=(("", "Captures"), ("home", "Home")), required=False)


class CaptureActionForm(forms.Form):
    """Archive or restore a capture."""

    do = forms.ChoiceField(choices=(("put_away", "Archive"), ("bring_back", "Restore")))
    then = forms.ChoiceField(choices=(("", "Captures"), ("home", "Home")), required=False)
    page = forms.IntegerField(min_value=1, max_value=999_999, required=False)


class ReminderForm(forms.Form):
    """When and how to remind somebody of one thing."""

    at = forms.TimeField(
        label=_("Time"),
        error_messages={"required": _("Choose a time."), "invalid": _("Choose a time, such as 08:00.")},
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    by_push = forms.BooleanField(label=_("Notification"), required=False)
    by_mail = forms.BooleanField(label=_("Email"), required=False)
    with_words = forms.BooleanField(label=_("Say which steps are due"), required=False)

    def __init__(self, *args: Any, ways: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        quotes = ("with_words",) if self.prefix == ReminderKind.STEPS else ()
        for name in {"by_push", "by_mail", "with_words"}.difference(ways, quotes):
            del self.fields[name]

    def clean_at(self) -> time:
        """Drop the seconds, which no field shows."""
        at: time = self.cleaned_data["at"]
        return at.replace(second=0, microsecond=0)


class LettersForm(forms.Form):
    """Switch letters on or off. `then` is the page that its sender is on and returns to."""

    wanted = forms.ChoiceField(choices=(("1", "Yes"), ("0", "No")))
    then = forms.ChoiceField(choices=(("", "Settings"), ("home", "Home")), required=False)


class PushDeviceForm(forms.Form):
    """Add the browser that sends this, or forget it."""

    do = forms.ChoiceField(choices=(("add", "Add"), ("forget", "Forget")))
    endpoint = forms.CharField(max_length=1000)
    p256dh = forms.CharField(max_length=100, required=False)
    auth = forms.CharField(max_length=50, required=False)


class BriefForm(forms.Form):
    """Correct or remove a line of a brief, undo that, or have the brief written again."""

    do = forms.ChoiceField(
        choices=(("correct", "Correct"), ("strike", "Remove"), ("undo", "Undo"), ("anew", "Write it again"))
    )
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    line = forms.IntegerField(min_value=0, max_value=10_000, required=False)
    correction = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    words = forms.CharField(required=False, max_length=20_000)


class TickForm(forms.Form):
    """Set whether a priority is done; its text identifies it."""

    text = forms.CharField(strip=False)
    done = forms.ChoiceField(choices=(("1", "Done"), ("0", "Not done")))


class PromptForm(forms.Form):
    """Answer Sage's question in a conversation, write the answer down, or skip it."""

    do = forms.ChoiceField(choices=(("talk", "Talk"), ("write", "Write it down"), ("put_away", "Skip")))
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
