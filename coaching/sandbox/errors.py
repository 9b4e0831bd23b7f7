"""Why a process of a host gave no answer."""


class NotAnswered(Exception):
    """The request reached a limit (`is_too_costly`), or its process failed."""

    def __init__(self, *, is_too_costly: bool) -> None:
        super().__init__()
        self.is_too_costly = is_too_costly


class AllBusy(Exception):
    """No process was free, which says nothing about the request."""


class NotStarted(AllBusy):
    """No process could be started."""


class OutOfTime(Exception):
    """A pipe wasn't ready at the deadline."""


class UntrueAnswer(Exception):
    """An answer that no reader gives unless what it read has taken it over."""
