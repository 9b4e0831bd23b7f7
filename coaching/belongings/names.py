"""Names inside an archive: where a thing goes, and never out of the folder that it is unpacked in."""

import re
import unicodedata

MAX_PART_CHARACTERS = 100
MAX_PARTS = 12

# Separators, what Windows refuses, control characters, and marks that turn the direction of a line.
_UNFIT = re.compile(r"[\\:*?\"<>|\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


class ArchiveNames:
    """Gives each entry in one folder a name of its own, on systems that don't tell capitals apart, too."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._taken: set[str] = set()

    def take(self, path: str) -> str:
        """Return a safe name for that path, with a number where it is taken."""
        name = safe_name(path)
        stem, dot, ending = name.rpartition(".")
        if not dot or "/" in ending:
            stem, dot, ending = name, "", ""
        number = 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        self._taken.add(name.casefold())
        return f"{self._folder}/{name}"


def safe_name(path: str) -> str:
    """Return a relative path of plain parts. One that Sage has made stays as it is."""
    parts = [_safe_part(part) for part in unicodedata.normalize("NFC", path).split("/")]
    kept = [part for part in parts if part][-MAX_PARTS:]
    return "/".join(kept) or "_"


def _safe_part(part: str) -> str:
    plain = _UNFIT.sub("_", part).strip(" .")
    if not plain:
        return ""  # a folder above, or the same one
    if _DEVICE.match(plain):
        plain = f"_{plain}"
    return plain[:MAX_PART_CHARACTERS].rstrip(". ") or "_"
