"""Pictures that were made for the model: counted in their person's space, and gone with their document."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.files.garbage import collect_garbage
from coaching.library.documents.filing import delete_document
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.documents.pictures import keep_picture
from coaching.models import Document, DocumentImage, FileUsage
from coaching.personal_data.removal import remove_person
from sessions_app.database import in_database
from tests.files.conftest import disk_storage

__all__ = ["disk_storage"]

DATA, PICTURE = b"what was uploaded" * 100, b"what the model is shown" * 50

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage")]


def pictured(user: User, name: str = "garden.jpg") -> Document:
    """Take in a document and keep a picture of it, twice as where its upload and its job meet."""
    document = take_in(user_id=user.pk, name=name, data=DATA, destination=destination_of(user_id=user.pk))
    for _ in range(2):
        keep_picture(user_id=user.pk, document_id=document.pk, data=PICTURE, media_type="image/jpeg")
    return document


def usage_of(user: User) -> tuple[int, int]:
    usage = FileUsage.of(user.pk).first()
    return (usage.files, usage.bytes) if usage else (0, 0)


def objects_in(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def test_a_picture_is_counted_until_its_document_is_deleted_and_leaves_no_object(
    user: User, other_user: User, disk_storage: Path
) -> None:
    first, _second, _theirs = pictured(user), pictured(user, "lake.jpg"), pictured(other_user)
    each = len(DATA) + len(PICTURE)
    assert usage_of(user) == (2, 2 * each)
    delete_document(user_id=user.pk, document_id=first.pk)
    assert usage_of(user) == (1, each)
    assert usage_of(other_user) == (1, each)
    assert DocumentImage.of(user.pk).count() == 1
    assert objects_in(disk_storage) == 3
    assert collect_garbage(now=datetime.now(UTC) + timedelta(hours=2)).removed == 1
    assert objects_in(disk_storage) == 2


async def test_who_is_removed_leaves_no_picture_and_no_object(
    user: User, other_user: User, disk_storage: Path
) -> None:
    await in_database(pictured, user)
    kept = await in_database(pictured, other_user)
    await remove_person(user.pk)
    assert await in_database(list, DocumentImage.unscoped.values_list("document", flat=True)) == [kept.pk]
    assert objects_in(disk_storage) == 1


def test_pictures_that_were_there_before_are_counted_by_the_migration(user: User) -> None:
    pictured(user)
    counted = usage_of(user)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE coaching_fileusage SET bytes = bytes - %s", [len(PICTURE)])
        cursor.execute(import_module("coaching.migrations.0029_count_pictures").BACKFILL)
    assert usage_of(user) == counted
