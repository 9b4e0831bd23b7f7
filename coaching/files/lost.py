"""Objects whose bytes are lost while their rows are still there.

A version's text is in its row, too, so its object can be stored again. Other bytes aren't in the database: a
document's row then has no hash, which says that nobody has to search for them any more. What was read of it
stays, and what was attached to an email is in that, too: the next time that it is read, it is taken anew.
"""

import hashlib

import structlog
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from coaching.models import Document, UserFileVersion
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)


def bytes_of_row(key: str) -> bytes | None:
    """Return an object's bytes, from its row; None if that has other bytes or none.

    None, too, for somebody who is being removed: their objects are deleted before their rows.
    """
    versions = UserFileVersion.unscoped.filter(storage_key=key, file__user__is_active=True)
    version = versions.only("content", "sha256").first()
    give_back_connections()
    if version is None:
        return None
    data = version.content.encode()
    return data if hashlib.sha256(data).hexdigest() == version.sha256 else None


def store_again(key: str) -> bool:
    """Store an object anew from its row; False if that hasn't got its bytes. Raises `STORAGE_ERRORS`."""
    data = bytes_of_row(key)
    return data is not None and storages["default"].save(key, ContentFile(data)) == key


def give_up(key: str) -> None:
    """Log that an object is lost for good, and note it in the document's row if it is a document's."""
    document = Document.unscoped.filter(storage_key=key).only("id").first()
    logger.warning("object_lost", key=key, document_id=document.pk if document else None)
    Document.unscoped.filter(storage_key=key).update(sha256="")
