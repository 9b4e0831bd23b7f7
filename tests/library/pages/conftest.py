"""Fixtures for tests of the library's pages."""

from tests.pages.conftest import exchange, storage

__all__ = ["exchange", "storage"]
