"""Ids that make forms idempotent."""

import uuid

from django import template

register = template.Library()


@register.simple_tag
def fresh_id() -> str:
    """Return a new unique id."""
    return str(uuid.uuid4())
