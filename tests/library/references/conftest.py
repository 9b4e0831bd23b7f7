"""The shipped files as a copy that tests change."""

import shutil
from pathlib import Path

import pytest

from coaching.library.references.files import library_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the shipped files, to be changed or damaged."""
    shutil.copytree(library_root() / "references", tmp_path / "references")
    shutil.copy(library_root() / "placement.yaml", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    """Replace a text that the file has."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
