"""Makes the files of the version that `pyproject.toml` names: once, when it is released.

    uv run python -m tests.releases

`tests/releases/VERSION/` then has `backup.tar.xz`, which `manage.py backup` wrote, `folder.tar.xz`, the data
folder without the database's own files (whose rows are in the backup), and `expected.json`. Files of an
earlier release never change: they stand for what people have.
"""

import lzma
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from sage.version import read_version
from tests.sage.processes import PROJECT, blank_environment

FOLDER = Path(__file__).parent
LEFT_OUT = ("postgres", "static", "backups", ".")
"""The database's files, which are large, and what is made anew; locks."""


def main() -> None:
    """Make them in a new data folder, which is deleted afterwards."""
    place = FOLDER / read_version(PROJECT)
    if place.exists():
        sys.exit(f"{place} exists. Before its release, delete it and begin again; afterwards it stays.")
    with tempfile.TemporaryDirectory(prefix="sage-") as folder:
        data = Path(folder)
        place.mkdir()
        for command in (
            "migrate --verbosity 0",
            "sync_skills --verbosity 0",
            "sync_help_lines --verbosity 0",
        ):
            _manage(data, *command.split())
        fill = f"from tests.releases.made import fill; fill({str(place / 'expected.json')!r})"
        _manage(data, "shell", "--no-imports", "--command", fill)
        _manage(data, "backup")
        (backup,) = (data / "backups").iterdir()
        (place / "backup.tar.xz").write_bytes(lzma.compress(backup.read_bytes(), preset=9))
        with tarfile.open(place / "folder.tar.xz", "w:xz") as archive:
            for path in sorted(data.iterdir()):
                if not path.name.startswith(LEFT_OUT):
                    archive.add(path, path.name)


def _manage(data: Path, *arguments: str) -> None:
    environment = blank_environment() | {"SAGE_DATA_DIR": str(data)}
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=PROJECT, env=environment, check=True)


if __name__ == "__main__":
    main()
