"""An empty queue, a model in this process, and a worker for it."""

from tests.jobs.conftest import practice, queue, work_off

__all__ = ["practice", "queue", "work_off"]
