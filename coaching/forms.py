"""What people send by form. A form only gives fields their shape; rules and refusals are the services'."""

from django import forms

ACTIONS = (
    ("", "Send"),
    ("stop", "Stop"),
    ("retry", "Try again"),
    ("continue", "Go on"),
    ("dismiss", "Not now"),
    ("edit", "Change"),
)


class NewSessionForm(forms.Form):
    """Begin a session, with its first message or without."""

    kind = forms.CharField(max_length=32, required=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)


class MessageForm(forms.Form):
    """Say something in a session, answer its pending call, or act on its last turn (`do`)."""

    do = forms.ChoiceField(choices=ACTIONS, required=False)
    tool_use_id = forms.CharField(max_length=100, required=False)
    value = forms.CharField(required=False, strip=False)
    text = forms.CharField(required=False, strip=False)
    id = forms.CharField(max_length=100, required=False)
