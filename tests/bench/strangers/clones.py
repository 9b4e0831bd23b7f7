"""Files of cloned repositories, read from their commits: what is checked out doesn't matter."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).with_name("sample.txt")
FRESH = Path(__file__).with_name("fresh.txt")
"""A second, smaller sample, drawn after the readers were mended by the first one."""


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """A file of the sample."""

    kind: str
    repository: str
    commit: str
    path: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def line(self) -> str:
        """Return what `members` reads; the path comes last because it may have spaces."""
        return f"{self.kind} {self.repository} {self.commit} {self.path}\n"

    def data(self, clones: Path) -> bytes:
        """Return its bytes."""
        return git(clones / self.repository, "cat-file", "blob", f"{self.commit}:{self.path}")


def members(sample: Path = SAMPLE) -> list[Member]:
    """Return the files of a sample."""
    return [Member(*line.split(" ", 3)) for line in sample.read_text().splitlines()]


def git(clone: Path, *arguments: str) -> bytes:
    """Return what a command of git writes."""
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout
