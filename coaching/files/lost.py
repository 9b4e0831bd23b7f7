"""Objects whose bytes are lost while their rows are still there.

A version's text is in its row, too, so its object can be stored again. A document's bytes are nowhere else:
its row then has no hash, which says that nobody has to search for them any more. Its text and facts stay.
"""

import hashlib

from django.core.files.base import ContentFile
from django.core.files.storage import storages

from coaching.models import Document, UserFileVersion
from sessions_app.database import give_back_connections


def store_again(key: str) -> bool:
    """Store an object anew from its row; False if that has other bytes or none. Raises `STORAGE_ERRORS`.

    Not those of somebody who is being removed: their objects are deleted before their rows.
    """
    versions = UserFileVersion.unscoped.filter(storage_key=key, file__user__is_active=True)
    version = versions.only("content", "sha256").first()
    give_back_connections()
    if version is None:
        return False
    data = version.content.encode()
    if hashlib.sha256(data).hexdigest() != version.sha256:
        return False
    return storages["default"].save(key, ContentFile(data)) == key


def give_up(key: str) -> None:
    """Note that an object is lost for good, if it is a document's."""
    Document.unscoped.filter(storage_key=key).update(sha256="")
