"""Addresses that code writes as text are those of the views that they are meant for.

Limits on bodies, languages and links are decided before, or without, Django's URL map. A route that is moved
has to be moved there, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.urls import get_resolver, resolve, reverse

from coaching.api import docs as api_docs
from coaching.library.pages import knowledge, steps, upload
from coaching.sandbox import markdown_worker
from coaching.views import calendar, imports, photos, safety, voice, welcome
from sage import health, metrics
from tests.architecture.parsing import parse

UPLOADS: dict[str, Any] = {
    "/library/upload/": upload.upload,
    "/journal/photos/": photos.add_photos,
    "/settings/calendar/upload/": calendar.upload_calendar,
    "/settings/import/": imports.show_imports,
    "/voice/recordings/": voice.recordings,
}
PAGES: dict[str, Any] = UPLOADS | {
    "/api/docs": api_docs.docs,
    "/healthz": health.healthz,
    "/library/actions/": steps.steps,
    "/library/knowledge/": knowledge.knowledge,
    "/metrics": metrics.metrics,
    "/readyz": health.readyz,
    "/safety/": safety.safety,
    "/welcome/": welcome.welcome,
}
BEGINNINGS: dict[str, tuple[str, list[object]]] = {
    "/admin/": ("admin:auth_user_change", [1]),
    "/api": ("api_docs", []),
    "/api/": ("api_docs", []),
    "/chat/0/": ("session", [UUID(int=0)]),
    "/files/": ("file", ["notes/one.md"]),
    "/library/documents/": ("library_document", [12]),
    "/mcp": ("mcp", []),
}
"""The beginnings of addresses, each with one of them."""
ELSEWHERE = {
    "coaching/api/routes.py",  # below /api
    "coaching/model_client/servers.py",  # of model servers
}
WRITTEN = re.compile(r"/([a-z][a-z0-9.-]*)(/[a-z0-9/_.-]*)?")


def test_each_address_in_the_code_is_known_here() -> None:
    assert set(addresses()) - {settings.STATIC_URL} == {*PAGES, *BEGINNINGS}


@pytest.mark.parametrize("address", PAGES)
def test_an_address_is_that_of_its_view(address: str) -> None:
    assert resolve(address).func is PAGES[address]


def test_larger_bodies_are_for_the_views_that_take_uploads() -> None:
    assert settings.SAGE_UPLOAD_BYTES.keys() == UPLOADS.keys()


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_the_beginning_of_an_address_is_that_of_its_views(beginning: str) -> None:
    name, arguments = BEGINNINGS[beginning]
    address = reverse(name, args=arguments)
    assert address.startswith(beginning.replace("/0/", "/0"))
    assert address.count("/") >= beginning.count("/")


def test_links_of_the_library_in_an_answer_are_those_of_its_pages() -> None:
    for address in (reverse("library_document", args=[12]), reverse("library_knowledge")):
        assert markdown_worker._LIBRARY_LINK.fullmatch(address)


def addresses() -> Iterator[str]:
    """Yield the texts in our code that begin like an address of this site."""
    first = {str(each.pattern).strip("^").partition("/")[0] for each in _patterns()} - {""}
    for folder in ("coaching", "sage", "sessions_app"):
        for file in sorted(Path(folder).rglob("*.py")):
            if str(file) in ELSEWHERE or {"migrations", "practice"} & set(file.parts):
                continue
            for node in ast.walk(parse(file)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found = WRITTEN.fullmatch(node.value)
                    if found and (found[1] in first or node.value == settings.STATIC_URL):
                        yield node.value


def _patterns() -> Iterator[Any]:
    for each in get_resolver().url_patterns:
        if str(each.pattern):
            yield each
        else:
            yield from each.url_patterns if hasattr(each, "url_patterns") else ()
