"""The refusals of this package."""


class Refused(Exception):
    """The request can't be done; nothing was changed. `str()` is a sentence for the user."""


class TooManySessions(Refused):
    """The user has opened too many sessions recently."""


class StaleFence(Exception):
    """The turn belongs to another runner now, or is closed."""
