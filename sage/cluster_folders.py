"""The folders of an upgrade, and how the new cluster takes the place of the former one.

Their versions say how far a killed upgrade came, so there is no other mark:

- `postgres` is the former one: nothing was put into its place yet, and what is in `upgraded` isn't finished;
- `postgres` is the new one and `upgraded` the former one: both were exchanged, and the former one still needs
  its name, `postgres.16`;
- `postgres` is missing, `upgraded` is the new one and `postgres.16` the former one: the file system can't
  exchange names, and the kill came between two renames. Nothing makes an empty cluster then.
"""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from coaching.files.former_clusters import PRESENT, UPGRADED, note_replacement, version_of
from sage.postgres_programs import FORMER_VERSION, POSTGRES_VERSION

_THIS_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@dataclass(frozen=True, slots=True)
class ClusterFolders:
    """The clusters of a data folder."""

    data_dir: Path

    @property
    def present(self) -> Path:
        return self.data_dir / PRESENT

    @property
    def upgraded(self) -> Path:
        return self.data_dir / UPGRADED

    @property
    def former(self) -> Path:
        return self.data_dir / f"{PRESENT}.{FORMER_VERSION}"

    def swap(self) -> None:
        """Put the new cluster into place and keep the former one. Neither may be running."""
        note_replacement(self.present)
        if not _exchange(self.present, self.upgraded):
            _rename(self.present, self.former)
        self.finish_swap()

    def finish_swap(self) -> bool:
        """Do what is left of a swap that has begun; return whether there was anything."""
        versions = tuple(map(version_of, (self.present, self.upgraded, self.former)))
        if versions == (None, POSTGRES_VERSION, FORMER_VERSION):
            _rename(self.upgraded, self.present)
            return True
        return self.name_former()

    def name_former(self) -> bool:
        """Give the former cluster its name after an exchange; return whether it had another one."""
        is_exchanged = (version_of(self.present), version_of(self.upgraded)) == (
            POSTGRES_VERSION,
            FORMER_VERSION,
        )
        if not is_exchanged or self.former.exists():
            return False
        _rename(self.upgraded, self.former)
        return True


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names at once; False where the system can't."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if rename(_THIS_FOLDER, names[0], _THIS_FOLDER, names[1], _EXCHANGE) != 0:
        return False
    _sync(one.parent)
    return True


def _rename(one: Path, other: Path) -> None:
    one.rename(other)
    _sync(one.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
