"""Reads. Query files only through `files_of`: another user's path looks like a missing one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from coaching.files.attributes import check_storable
from coaching.models import FileType, PulseRating, UserFile, UserFileVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file's version with its text.

    `rating`, a domain's newest, and when it was given are only set for the newest version.
    """

    file: UserFile
    version: UserFileVersion
    rating: int | None = None
    rated_at: datetime | None = None

    @property
    def text(self) -> str:
        return self.version.content

    @property
    def written_at(self) -> datetime:
        is_newest = self.version.number == self.file.version_number
        return self.file.updated_at if is_newest else self.version.created_at


def accessible_file(*, user_id: int, path: str) -> UserFile:
    """Return the user's file. Raises `UserFile.DoesNotExist`, also for another user's."""
    try:
        check_storable(path)
    except ValueError:
        raise UserFile.DoesNotExist from None
    return UserFile.of(user_id).get(path=path)


def read_file(*, user_id: int, path: str, number: int | None = None) -> FileText:
    """Read the newest version or version `number`. Raises the models' `DoesNotExist`."""
    file = accessible_file(user_id=user_id, path=path)
    # The file's row may be outdated by now, so query the newest instead of `version_number`.
    versions = file.versions.order_by("-number")
    if number is None:
        return with_newest_rating(FileText(file=file, version=versions[:1].get()))
    if not 0 < number < 2**31:
        raise UserFileVersion.DoesNotExist
    found = FileText(file=file, version=versions.get(number=number))
    return with_newest_rating(found) if number == file.version_number else found


def with_newest_rating(found: FileText) -> FileText:
    """Read the newest rating of a domain page's domain; other files have none."""
    if found.file.file_type != FileType.DOMAIN:
        return found
    ratings = PulseRating.of(found.file.user_id).filter(domain=domain_of(found.file.path))
    newest = ratings.order_by("-rated_at", "-id").values_list("rating", "rated_at").first()
    return replace(found, rating=newest[0], rated_at=newest[1]) if newest else found


def domain_of(path: str) -> str:
    """Return the domain's name in a domain page's path."""
    return path.rpartition("/")[2].removesuffix(".md")


def read_versions(
    *, user_id: int, path: str, offset: int = 0, limit: int | None = None
) -> Sequence[UserFileVersion]:
    """Return a file's versions without texts, newest first. Raises `UserFile.DoesNotExist`."""
    file = accessible_file(user_id=user_id, path=path)
    versions = file.versions.defer("content").select_related("file", "session").order_by("-number")
    return list(versions[offset:] if limit is None else versions[offset : offset + limit])


def read_earlier_with_same_text(file: UserFile, versions: Sequence[UserFileVersion]) -> dict[int, int]:
    """Map version numbers to the last earlier version with the same text, if there is one."""
    sums = {version.sha256 for version in versions if version.sha256}
    same = file.versions.filter(sha256__in=sums).order_by("number").values_list("sha256", "number")
    last: dict[str, int] = {}
    found = {}
    for sha256, number in same:
        if sha256 in last:
            found[number] = last[sha256]
        last[sha256] = number
    return found
