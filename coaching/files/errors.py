"""Why a file was not written or found: each a sentence that the user and the model can act on."""

from sessions_app.errors import Refused


class FileRefused(Refused):
    """The name, the text or the attributes don't fit; nothing was changed."""


class QuotaReached(FileRefused):
    """Not enough space; nothing was changed."""


class FileMoved(Refused):
    """Somebody else wrote the file since it was opened; nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            "The file was changed meanwhile, so nothing was saved yet. Look at both texts and choose."
        )


class StorageFailed(Refused):
    """The storage didn't take the bytes, or gave no sign that it did; nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            "The file could not be stored just now, so nothing was changed and the earlier version is whole. "
            "Try again in a minute."
        )


class ObjectsNotErased(Exception):
    """The storage didn't delete all objects of a user, or gave no sign that it did."""
