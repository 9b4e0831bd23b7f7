"""Storages as in the tests of files, and the library's references."""

from tests.files.conftest import disk_storage, s3_server, s3_storage
from tests.library.conftest import synced_references

__all__ = ["disk_storage", "s3_server", "s3_storage", "synced_references"]
