"""What a form carries so that sending it twice does nothing twice."""

import uuid

from django import template

register = template.Library()


@register.simple_tag
def fresh_id() -> str:
    """Return an id that nothing has had before."""
    return str(uuid.uuid4())
