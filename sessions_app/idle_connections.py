"""Whether an idle database connection is still open, without a round trip.

A server that closes a connection writes to its socket. Only a network can drop one silently.
"""

import select
from typing import Any

from psycopg import AsyncConnection, Connection

TRUSTED_SECONDS = 10.0
"""A connection that was idle for longer may have been dropped silently, so it is checked by a statement."""


def has_news(connection: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Return whether something arrived on an idle connection: that would be its end."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def is_cut(connection: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Return whether an idle connection is closed, by this process or by the server."""
    return connection.closed or has_news(connection)
