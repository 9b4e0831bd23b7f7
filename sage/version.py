"""The version of Sage. Its only place is `pyproject.toml`."""

from pathlib import Path

_LINE = "version = "


def read_version(project: Path) -> str:
    """Return the version. Parsing all of the file would delay each command by some milliseconds."""
    with (project / "pyproject.toml").open(encoding="utf-8") as file:
        return next(line for line in file if line.startswith(_LINE)).removeprefix(_LINE).strip().strip('"')
