"""What runs in a worker process of a `KillablePool`: a script's `answer`, one request after another.

Run by path with the script's own path. It answers length-prefixed requests on its standard streams and ends
when its parent does. It imports nothing of ours but that script, so that it starts in a fraction of a
second, and what it holds when it is killed is worth nothing.
"""

import importlib.util
import resource
import struct
import sys
from collections.abc import Callable

LENGTH = struct.Struct("!I")
MEMORY_BYTES = 768 * 1024 * 1024


def load_answer(script: str) -> Callable[[bytes], bytes]:
    """Return the script's `answer`."""
    spec = importlib.util.spec_from_file_location("killable_script", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    answer: Callable[[bytes], bytes] = module.answer
    return answer


def serve(answer: Callable[[bytes], bytes]) -> None:
    """Say that it is ready with an empty answer, then answer until the other side closes."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    said = b""
    while True:
        sink.write(LENGTH.pack(len(said)) + said)
        sink.flush()
        header = source.read(LENGTH.size)
        if len(header) < LENGTH.size:
            return
        said = answer(source.read(LENGTH.unpack(header)[0]))


if __name__ == "__main__":
    serve(load_answer(sys.argv[1]))
