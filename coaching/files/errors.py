"""Why a file wasn't written or found, as a sentence that the user and the model can act on."""

from django.utils.translation import gettext_noop

from sessions_app.errors import Refused


class FileRefused(Refused):
    """The name, text or attributes are invalid; nothing was changed."""


class QuotaReached(FileRefused):
    """Not enough space; nothing was changed."""


class FileMoved(Refused):
    """Somebody else changed the file since it was opened; nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop(
                "The file was changed meanwhile, so nothing was saved yet. Look at both texts and choose."
            )
        )


class StorageFailed(Refused):
    """The storage failed or didn't confirm; nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop(
                "The file couldn’t be saved just now. Nothing was changed, and the earlier version is "
                "intact. Try again in a minute."
            )
        )


class ObjectsNotErased(Exception):
    """The storage failed to delete all objects of a user, or didn't confirm."""
