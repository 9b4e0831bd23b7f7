"""The name of this process, by which the database knows its connections and other processes its turns."""

import os
import socket
import uuid
from functools import cache


@cache
def process_name() -> str:
    """Return a name that no other process has or had, short enough for `application_name`."""
    return f"{socket.gethostname()[:32]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
