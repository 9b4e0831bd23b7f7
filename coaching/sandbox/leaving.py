"""The page between a rendered text and another host.

A text's links to other hosts lead to `/leave/`, which names the host. Their URLs are signed here, in a
process that has the key, so that the page sends nobody to a URL that no text of Sage linked.
"""

import re
from html import unescape
from urllib.parse import quote, urlencode

from django.core.signing import Signer
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_SALT = "leave"
# As the sanitiser writes links: nothing before the URL, and no quotation mark in it.
_LINK = re.compile(
    r'<a href="((?:https?|mailto):[^"<>]*+)"(?: rel="noopener noreferrer nofollow")?', re.IGNORECASE
)
_KEPT = "/:@,;!$*()"


def through_page(markup: SafeString) -> SafeString:
    """Return sanitised markup whose links to other hosts lead to the page that names the host."""
    if "<a " not in markup:
        return markup
    page = reverse("leave")

    def signed(link: re.Match[str]) -> str:
        # With a referrer, as that page leads back; it sends none on.
        return f'<a href="{escape(_page_of(page, unescape(link[1])))}" rel="nofollow"'

    return mark_safe(_LINK.sub(signed, markup))  # noqa: S308 - escaped URLs in the sanitiser's markup


def target_of(signed: str) -> str:
    """Return the URL that a text linked. Raises `BadSignature`."""
    return Signer(salt=_SALT).unsign(signed)


def _page_of(page: str, address: str) -> str:
    query = urlencode({"to": Signer(salt=_SALT).sign(address)}, quote_via=quote, safe=_KEPT)
    return f"{page}?{query}"
