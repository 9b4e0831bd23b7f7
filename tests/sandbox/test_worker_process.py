"""Large requests to a worker process: in big pieces, and never past their deadline."""

import sys
import time
from collections.abc import Iterator

import pytest

from coaching.sandbox.worker_process import OutOfTime, WorkerProcess
from tests.patience import patience

READS_NOTHING = "import time; time.sleep(600)"


@pytest.fixture
def process() -> Iterator[WorkerProcess]:
    """A process that reads none of its requests."""
    process = WorkerProcess(["-c", READS_NOTHING])
    yield process
    process.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can enlarge a pipe")
def test_a_pipe_takes_a_large_piece_before_it_is_read(process: WorkerProcess) -> None:
    process.send([bytes(250_000)], time.monotonic() + 1)


def test_a_full_pipe_blocks_until_the_deadline_only(process: WorkerProcess) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        process.send([bytes(100_000)] * 10, began + 1)
    assert 1 <= time.monotonic() - began < 1 + patience()
