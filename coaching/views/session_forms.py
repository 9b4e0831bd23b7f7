"""The forms of feedback and folders. They only shape fields; services have the rules and refusals."""

from typing import Any

from django import forms

from coaching.models import AnswerRating


class FeedbackForm(forms.Form):
    """What somebody thinks of an answer; the service has the limits."""

    do = forms.ChoiceField(choices=[("", "Rate"), ("save", "Save"), ("delete", "Delete")], required=False)
    rating = forms.ChoiceField(choices=AnswerRating.choices, required=False)
    note = forms.CharField(required=False, strip=False)
    share = forms.BooleanField(required=False)
    share_answer = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Require a rating of everything but a deletion."""
        fields = super().clean() or {}
        if fields.get("do") != "delete" and not fields.get("rating"):
            raise forms.ValidationError("", code="required")
        return fields


class FolderForm(forms.Form):
    """Make, rename or delete a folder for conversations; the service has the limits."""

    do = forms.ChoiceField(choices=[("", "Save"), ("delete", "Delete")], required=False)
    name = forms.CharField(required=False, strip=False)


class MoveForm(forms.Form):
    """The folder that a conversation moves to, or the name of a new one."""

    folder = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    name = forms.CharField(required=False, strip=False)
