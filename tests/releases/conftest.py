"""A Sage of its own for each test."""

from tests.backups.conftest import place

# Fixtures are imported only here.
__all__ = ["place"]
