"""Values for attributes of HTML elements."""

import json

from django import template

register = template.Library()


@register.filter
def as_json(value: object) -> str:
    """Return a value as JSON, for a `data-` attribute. The template escapes it."""
    return json.dumps(value)
