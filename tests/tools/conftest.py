"""Storages as in the tests of files, and a context that commits for real."""

from tests.files.conftest import disk_storage, s3_server, s3_storage

__all__ = ["disk_storage", "s3_server", "s3_storage"]
