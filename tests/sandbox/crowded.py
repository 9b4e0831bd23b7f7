"""The readers of `readers` on a system that has no room for their second process, for a moment."""

import errno
import os
from itertools import count

from tests.sandbox import readers

answer, answers = readers.answer, readers.answers

_fork = os.fork
_forks = count(1)


def _fork_unless_crowded() -> int:
    if next(_forks) == 2:
        raise BlockingIOError(errno.EAGAIN, "no room")
    return _fork()


os.fork = _fork_unless_crowded
