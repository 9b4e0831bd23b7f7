"""Template filters for forms that two tabs may have open."""

from django import template
from django.forms import BaseForm

from coaching.views.edit_forms import EditForm

register = template.Library()


@register.filter
def theirs(form: BaseForm, name: str) -> str:
    """Return what a field says now that both have changed; empty for any other field or form."""
    return form.theirs.get(name, "") if isinstance(form, EditForm) else ""
