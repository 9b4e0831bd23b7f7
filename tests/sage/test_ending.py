"""A process that has been told to end ends, whatever its threads are doing."""

import time

from tests.sage.processes import started

SCRIPT = """
import sys, time
from functools import partial
from concurrent.futures import ThreadPoolExecutor
from sage.ending import at_end, end_soon

at_end(partial(print, "cleaned up", flush=True))
ThreadPoolExecutor().submit(time.sleep, float(sys.argv[1]))
end_soon(7)
"""


def test_a_thread_that_works_on_is_cut_off_after_what_must_be_cleaned_up() -> None:
    began = time.monotonic()
    with started("-c", SCRIPT, "600") as process:
        assert process.wait(300) == 7
        assert process.output.count("cleaned up") == 1
        assert "threads_cut_off" in process.output
    assert time.monotonic() - began < 300


def test_threads_that_end_soon_are_waited_for() -> None:
    with started("-c", SCRIPT, "0.2") as process:
        assert process.wait() == 0
        assert process.output.split() == ["cleaned", "up"]
