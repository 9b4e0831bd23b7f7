"""What one process that reads untrusted bytes may use, and what a megabyte is."""

from dataclasses import asdict, dataclass

MEGABYTE = 1 << 20
"""Bytes. It is the MB of every limit, quota and setting, and of pages: of `filesizeformat`, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a class of work, for each of its processes.

    `seconds` is the time for one request. `cpu_seconds` is the processor time of a process, whatever it reads
    one after another; `requests` is how many it answers before another takes its place. A process that claims
    to answer with more than `answer_bytes` is ended.
    """

    memory_bytes: int
    cpu_seconds: int
    seconds: float
    answer_bytes: int
    requests: int = 1
    niceness: int = 0

    def as_arguments(self) -> list[str]:
        """Return the fields as arguments of a command; `limits_of` reads them."""
        return [str(value) for value in asdict(self).values()]


def limits_of(arguments: list[str]) -> Limits:
    """Return the limits that `as_arguments` wrote."""
    memory, cpu, seconds, answer, requests, niceness = arguments
    return Limits(
        memory_bytes=int(memory),
        cpu_seconds=int(cpu),
        seconds=float(seconds),
        answer_bytes=int(answer),
        requests=int(requests),
        niceness=int(niceness),
    )
