"""Where the data of Tesseract's languages is. No Django: processes that read pictures use it, too."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

MAX_LANGUAGES = 6
"""Each of them makes every page slower."""
FOLDER_VARIABLE = "TESSDATA_PREFIX"
"""Tesseract's own."""
_SUFFIX = ".traineddata"
_FOLDERS = (
    "/usr/share/tesseract-ocr",  # Debian has a folder for each version in it
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
_NO_LANGUAGES = ("osd", "equ", "snum")


def data_folder() -> Path | None:
    """Return the folder with the data of languages, None if there is none."""
    stated = os.environ.get(FOLDER_VARIABLE)
    folders = [folder for place in ([stated] if stated else _FOLDERS) for folder in _within(Path(place))]
    return next(filter(languages_in, folders), None)


def _within(place: Path) -> Sequence[Path]:
    return [place, place / "tessdata", *sorted(place.glob("*/tessdata"), reverse=True)]


def languages_in(folder: Path) -> Sequence[str]:
    """Return the languages whose data is there, in Tesseract's names (eng, deu), English first."""
    found = {file.name.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}")}.difference(_NO_LANGUAGES)
    return sorted(found, key=lambda name: (name != "eng", name))[:MAX_LANGUAGES]


def is_installed() -> bool:
    """Say whether pictures can be read here: the library is there, and the data of a language."""
    return find_spec("tesserocr") is not None and data_folder() is not None
