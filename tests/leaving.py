"""URLs of the page between a text and another host."""

from html import unescape

from django.utils.html import format_html

from coaching.sandbox.leaving import through_page


def leave_url(address: str) -> str:
    """Return the URL to which a link of a text leads."""
    link = through_page(format_html('<a href="{}">', address))
    return unescape(link.split('"')[1])
