"""Runs in a worker process of a `KillablePool`: a script's `answer`, one request at a time.

Run by path with the script's path. It answers length-prefixed requests on its standard streams and ends with
its parent. It imports nothing of ours but that script, so it starts in a fraction of a second and holds
nothing of value when it is killed.
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
    """Send an empty answer when ready, then answer until the other side closes."""
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
