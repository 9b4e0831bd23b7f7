"""Which origins may open a WebSocket."""

import pytest
from pytest_django import Settings

from sage.origin import is_accepted_origin


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "localhost:8000"),
        ("http://localhost", "localhost:80"),
        ("https://sage.example", "sage.example"),
        ("https://sage.example", "sage.example:443"),
        ("https://sage.example:8443", "sage.example:8443"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("http://LOCALHOST:8000", "localhost:8000"),
        ("https://trusted.example", "localhost:8000"),
        ("https://any.wild.example", "localhost:8000"),
    ],
)
def test_a_page_of_this_site_or_of_a_trusted_origin_may(origin: str, host: str, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "[::1]", "sage.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://trusted.example", "https://*.wild.example"]
    assert is_accepted_origin(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("", "localhost:8000"),
        ("null", "localhost:8000"),
        ("http://evil.example", "localhost:8000"),
        ("http://localhost:9000", "localhost:8000"),
        ("http://localhost.evil.example:8000", "localhost:8000"),
        ("http://evil.example:8000", "evil.example:8000"),
        ("http://user@localhost:8000", "localhost:8000"),
        ("http://localhost:8000/page", "localhost:8000"),
        ("http://localhost:8000, http://evil.example", "localhost:8000"),
        ("file://localhost", "localhost"),
        ("http://localhost:port", "localhost:8000"),
        ("http://[::1", "localhost:8000"),
        ("http://localhost:8000", ""),
        ("http://trusted.example", "localhost:8000"),
        ("https://wild.example", "localhost:8000"),
        ("https://notwild.example", "localhost:8000"),
    ],
)
def test_a_foreign_missing_or_malformed_origin_may_not(origin: str, host: str, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "sage.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://trusted.example", "https://*.wild.example"]
    assert not is_accepted_origin(origin, host)
