"""The name of this process, in its database connections and in the turns that it runs."""

import os
import socket
import uuid
from functools import cache


@cache
def process_name() -> str:
    """Return a name that no other process has or had, short enough for `application_name`."""
    return f"{socket.gethostname()[:32]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
