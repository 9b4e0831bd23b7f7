"""Template filters for forms that two tabs may have open."""

from django import template
from django.forms import BaseForm, BoundField
from django.utils.safestring import SafeString

from coaching.views.edit_forms import EditForm

register = template.Library()


@register.filter
def theirs(form: BaseForm, name: str) -> str:
    """Return what a field says now that both have changed; empty for any other field or form."""
    return form.theirs.get(name, "") if isinstance(form, EditForm) else ""


@register.filter
def shown(field: BoundField) -> SafeString | str:
    """Return the hidden fields with what a field was shown with, for one whose choices stand one by one."""
    return field.as_hidden(only_initial=True) if field.field.show_hidden_initial else ""
