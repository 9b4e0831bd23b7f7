"""The refusals of this package."""


class Refused(Exception):
    """What was asked can't be done. `str()` is one sentence fit for the user; nothing was changed."""


class TooManySessions(Refused):
    """The user has opened too many sessions lately."""


class StaleFence(Exception):
    """The turn isn't this runner's any more: its fencing number has moved on, or it is closed."""
