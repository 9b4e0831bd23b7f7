"""A person's files by folder: the first files of each with counts, and one folder page by page.

Folders of dated files start with the newest, others with the first name. Few rows are read, however many
files there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Count, F, Func, Q, QuerySet, Value, Window
from django.db.models.functions import RowNumber

from coaching.files.types import RULES
from coaching.models import UserFile

FOLDERS_OF_DAYS = frozenset(
    rule.place for rule in RULES.values() if rule.naming in ("date", "moment", "slug")
)
_FROM_LAST = FOLDERS_OF_DAYS.union(rule.place for rule in RULES.values() if rule.naming == "month")

_MAX_WORDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFiles:
    """Some files of a folder, in order, and how many it has."""

    path: str
    files: Sequence[UserFile]
    total: int

    @property
    def is_of_days(self) -> bool:
        return self.path in FOLDERS_OF_DAYS


def read_folders(*, user_id: int, limit: int) -> Sequence[FolderFiles]:
    """Return all folders by path, each with up to `limit` files, in one query."""
    found = (
        _in_folders(user_id)
        .annotate(
            from_first=Window(RowNumber(), partition_by=F("folder"), order_by=F("path").asc()),
            from_last=Window(RowNumber(), partition_by=F("folder"), order_by=F("path").desc()),
            total=Window(Count("id"), partition_by=F("folder")),
        )
        .filter(Q(from_first__lte=limit) | Q(from_last__lte=limit))
        .order_by("folder", "path")
    )
    return [_first_of(path, list(files), limit) for path, files in groupby(found, key=attrgetter("folder"))]


def _first_of(path: str, files: list[Any], limit: int) -> FolderFiles:
    if path in _FROM_LAST:
        files.reverse()
    return FolderFiles(path=path, files=files[:limit], total=files[0].total)


def read_folder(*, user_id: int, path: str, limit: int, before: int = 0) -> FolderFiles:
    """Return up to `limit` files of a folder, after the first `before`."""
    files = _in_folders(user_id).filter(folder=path)
    order = "-path" if path in _FROM_LAST else "path"
    return FolderFiles(
        path=path, files=list(files.order_by(order)[before : before + limit]), total=files.count()
    )


def find_by_name(*, user_id: int, words: str, limit: int) -> Sequence[UserFile]:
    """Return up to `limit` files whose name, path or day has all the words, the last changed first."""
    found = UserFile.of(user_id).filter(version_number__gt=0)
    for word in words.split()[:_MAX_WORDS]:
        found = found.filter(Q(title__icontains=word) | Q(path__icontains=word))
    return list(found.order_by("-updated_at", "-pk")[:limit])


def _in_folders(user_id: int) -> QuerySet[Any]:
    folder = Func(F("path"), Value("/?[^/]*$"), Value(""), function="regexp_replace")
    return UserFile.of(user_id).annotate(folder=folder)
