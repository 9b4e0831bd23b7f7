"""Limits on archive downloads, which cost CPU while they are sent. Counted per process."""

from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from django.utils.translation import gettext_noop

from coaching.people.attempts import AttemptLimit
from sessions_app.errors import Refused

MAX_IN_AN_HOUR = 12
IN_PROGRESS = gettext_noop("Your download is already in progress. Wait until it finishes, then try again.")

_limit = AttemptLimit(attempts=MAX_IN_AN_HOUR, seconds=3600)
_running: WeakValueDictionary[int, "Download"] = WeakValueDictionary()
"""Running downloads of this process by user id. The weak reference is the lock; it frees itself."""


class Download:
    """A person's archive while it is sent.

    Django closes it at the end of the response, but not if creating the archive failed or the client had
    disconnected. It therefore counts only while it is referenced, so that no failure locks its user out.
    """

    def __init__(self, user_id: int, pieces: AsyncIterator[bytes]) -> None:
        self._user_id = user_id
        self._pieces = pieces
        _running[user_id] = self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        finally:
            self.close()

    def close(self) -> None:
        """Free the person's slot for the next download."""
        if _running.get(self._user_id) is self:
            del _running[self._user_id]


def begin_download(*, user_id: int, pieces: AsyncIterator[bytes]) -> Download:
    """Return an archive's pieces for sending. Raises `Refused`. Call it on the event loop."""
    if user_id in _running:
        raise Refused(IN_PROGRESS)
    _limit.count(user_id)
    return Download(user_id, pieces)
