"""Fixtures for tests of the library's pages."""

from tests.pages.conftest import exchange, session, signed_in, storage

__all__ = ["exchange", "session", "signed_in", "storage"]
