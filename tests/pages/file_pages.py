"""Pages of a person's files: sent, and read back."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from tests.files.auditor import audit_files

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CAREER = "/files/life-map/career.md"
Write = Callable[..., str]


def send(client: Client, body: str, *, version: int, do: str = "save", **fields: Any) -> HttpResponse:
    response = client.post(f"{CAREER}/edit/", {"body": body, "version": version, "do": do, **fields})
    assert isinstance(response, HttpResponse)
    return response


def bodies(user: User, path: str = "life-map/career.md") -> list[str]:
    return [text.splitlines()[-1] for text in audit_files(user.pk)[path]]


def typed_in(page: str, name: str = "body") -> str:
    found = re.search(rf'<textarea name="{name}"[^>]*>\r?\n(.*?)</textarea>', page, re.DOTALL)
    assert found, page
    return found[1]


def hidden_in(page: str) -> dict[str, str]:
    """Return the hidden fields that name the file and the version of the page."""
    return dict(re.findall(r'<input type="hidden" name="(version|file)" value="([^"]*)"', page))
