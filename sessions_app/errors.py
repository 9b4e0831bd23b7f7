"""The refusals of this package."""


class Refused(Exception):
    """The request can't be done; nothing was changed. `str()` is a sentence for the user."""


class FieldRefused(Refused):
    """One field of a form can't be stored as it was given."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class TooManySessions(Refused):
    """The user has opened too many sessions recently."""


class StaleFence(Exception):
    """The turn belongs to another runner now, or is closed."""
