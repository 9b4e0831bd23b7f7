"""Checks file invariants after every test."""

import hashlib

from django.core.files.storage import storages
from django.db.models import Prefetch

from coaching.files.frontmatter import parse_file
from coaching.files.objects import ObjectStorage
from coaching.models import UserFile, UserFileVersion


def audit_files(user_id: int) -> dict[str, list[str]]:
    """Check that every file is one complete version and every row has its object.

    Return the texts of each path's versions, oldest first.
    """
    texts: dict[str, list[str]] = {}
    ordered = Prefetch("versions", UserFileVersion.unscoped.order_by("number"))
    for file in UserFile.unscoped.filter(user_id=user_id).prefetch_related(ordered):
        versions = list(file.versions.all())
        assert [version.number for version in versions] == list(range(1, file.version_number + 1))
        for version in versions:
            with storages["default"].open(version.storage_key, "rb") as stored:
                data = stored.read()
            assert data == version.content.encode()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (version.size, version.sha256)
            assert version.storage_key.startswith(f"users/{user_id}/")
        newest = versions[-1]
        assert (file.size, file.sha256) == (newest.size, newest.sha256)
        assert file.frontmatter == parse_file(newest.content)[0]
        texts[file.path] = [version.content for version in versions]
    return texts


def stored_keys() -> set[str]:
    """Return the keys of all objects in the storage."""
    storage = storages["default"]
    assert isinstance(storage, ObjectStorage)
    return {entry.key for entry in storage.list_objects("")}
