"""The frames in the pipes between a host, its template and their processes, in network byte order."""

import struct

COMMAND = struct.Struct("!cI")
"""To a template: `FORK` with descriptors, or `KILL` and a process id."""
FORK, KILL = b"F", b"K"

PROCESS_ID = struct.Struct("!I")
"""From a template, when it has forked."""
EXIT_CODE = struct.Struct("!i")
"""From a template, when the process has ended; negative: of a signal."""

REQUEST = struct.Struct("!II")
"""To a process, before a request: the lengths of its head and its body."""
ANSWER = struct.Struct("!cI")
"""From a process: the kind of what follows, and its length."""
READY, ANSWERED, LAST, END = b"R", b"A", b"L", b"E"
"""The missing layers, an answer, an answer after which the process ends, and the end of a stream."""

FAILED_CODE, COSTLY_CODE = 1, 2
"""Exit codes: the module raised an exception, or ran out of memory."""

MAX_READY_BYTES = 1_000
"""Of the names of missing layers."""
