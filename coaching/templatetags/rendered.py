"""A part of a page inside of a translated sentence."""

from django import template

register = template.Library()


@register.simple_block_tag
def rendered(content: str) -> str:
    """Return the rendered content, which `as` keeps for a `blocktranslate`: it may hold no tags itself."""
    return content
