"""The scripts and styles of a page: one bundle of each, or with `DEBUG` the modules that they consist of.

`python -m tests.bundles` writes the bundles.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from django import template
from django.conf import settings
from django.templatetags.static import static

register = template.Library()

_OF_PAGES = (
    "chat/main", "choosing", "example", "file-editor", "import-upload", "journal", "library", "notifications",
    "passkeys", "print", "share", "viewer",
)  # fmt: skip
BUNDLES: Final[Mapping[str, Sequence[str]]] = {
    "app": ("app",),
    # Three, so that with `DEBUG`, too, the service worker stores all of them.
    "offline": ("offline-draft", "device-copy", "offline"),
    # Loaded beside a page's bundle, so they share no module with that.
    "palette": ("palette",),
    "voice/voice": ("voice/voice",),
    # Loaded into the audio thread of a page that records.
    "voice/worklet": ("voice/worklet",),
    **{name: ("app", name) for name in _OF_PAGES},
}
"""The modules of `static/js` in each bundle, in order. A page has one bundle, so that a module runs once."""


def script_files(name: str) -> list[str]:
    """Return the static files of a bundle. Raises `KeyError` for a bundle that doesn't exist."""
    modules = BUNDLES[name]
    return [f"dist/{name}.js"] if settings.SAGE_BUNDLES else [f"js/{module}.js" for module in modules]


def style_file() -> str:
    """Return the static file with the styles of all pages."""
    return "dist/sage.css" if settings.SAGE_BUNDLES else "css/sage.css"


@register.inclusion_tag("coaching/components/page_scripts.html")
def page_scripts(name: str = "app") -> dict[str, list[str]]:
    """Load a page's scripts: those of all pages, and those of the named module."""
    return {"files": script_files(name)}


@register.simple_tag
def script_url(name: str) -> str:
    """Return the URL of a bundle that a script of the page imports when it needs it."""
    return static(script_files(name)[-1])


@register.simple_tag
def stylesheet() -> str:
    """Return the URL of the styles of all pages."""
    return static(style_file())
