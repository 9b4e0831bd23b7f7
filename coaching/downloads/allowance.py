"""Archives on their way to people: one at a time for each person, and a few within an hour.

To make one is work for as long as it takes to send. Counted in this process alone.
"""

from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from coaching.people.attempts import AttemptLimit
from sessions_app.errors import Refused

MAX_IN_AN_HOUR = 12
ON_ITS_WAY = "Your archive is on its way already. Wait until it is here, then ask again."

_limit = AttemptLimit(attempts=MAX_IN_AN_HOUR, seconds=3600)
_on_their_way: WeakValueDictionary[int, "Download"] = WeakValueDictionary()
"""What this process is sending, by whose it is."""


class Download:
    """A person's archive while it is sent.

    Django closes it when the response is over, but not where making the archive failed, or where nobody was
    there any more to send it to: so it counts for as long as it is held, and no failure locks its person out.
    """

    def __init__(self, user_id: int, pieces: AsyncIterator[bytes]) -> None:
        self._user_id = user_id
        self._pieces = pieces
        _on_their_way[user_id] = self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        finally:
            self.close()

    def close(self) -> None:
        """Let the person ask for the next one."""
        if _on_their_way.get(self._user_id) is self:
            del _on_their_way[self._user_id]


def begin_download(*, user_id: int, pieces: AsyncIterator[bytes]) -> Download:
    """Return an archive's pieces as something to send. Raises `Refused`. Call it on the event loop."""
    if user_id in _on_their_way:
        raise Refused(ON_ITS_WAY)
    _limit.count(user_id)
    return Download(user_id, pieces)
