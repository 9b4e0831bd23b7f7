"""Storages for the tests of exports and removals: the same as for files."""

from tests.files.conftest import disk_storage, each_storage, s3_server, s3_storage

__all__ = ["disk_storage", "each_storage", "s3_server", "s3_storage"]
