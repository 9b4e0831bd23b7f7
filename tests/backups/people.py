"""People with a row in every table and real bytes under every key."""

import threading
from dataclasses import dataclass, field
from typing import Self

from django.contrib.auth.models import Group, User
from django.db import connection

from coaching.files.keys import keyed_models
from coaching.files.objects import StoredObject, store_object_now
from coaching.models import Capture, FileSource, UserFile, UserFileVersion
from tests.personal_data.life import live

OF_A_PERSON = len(keyed_models())
"""So many objects `make_person` stores."""


def make_person(name: str) -> User:
    """Make somebody with a row in every table; each key names an object."""
    user = User.objects.create_user(name, f"{name}@example.org", "correct-horse")
    live(user, name)
    for model in keyed_models():
        for row in model.unscoped.filter(**{f"{model.owner_path}_id": user.pk}):
            stored = store_object_now(user_id=user.pk, data=f"{name} {model.__name__}".encode())
            values = {"storage_key": stored.key, "size": stored.size, "sha256": stored.sha256}
            model.unscoped.filter(pk=row.pk).update(**values)
    return user


def add_version(user: User, number: int) -> StoredObject:
    """Store one more version of the person's file."""
    file = UserFile.unscoped.get(user=user)
    stored = store_object_now(user_id=user.pk, data=f"version {number} ".encode() * 100)
    UserFileVersion.unscoped.create(
        file=file,
        number=number,
        content=f"version {number}",
        size=stored.size,
        sha256=stored.sha256,
        storage_key=stored.key,
        source=FileSource.USER,
    )
    return stored


@dataclass
class Writer:
    """Writes groups and versions in turn, in a thread, while the block runs; notes what is committed."""

    user: User
    written: dict[str, str] = field(default_factory=dict)
    _ending: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._write)
        self._thread.start()
        while len(self.written) < 3:
            assert self._thread.is_alive()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def _write(self) -> None:
        number = 1000
        while not self._ending.is_set():
            number += 1
            Group.objects.create(name=f"{self.user} {number}")
            stored = add_version(self.user, number)
            self.written[stored.key] = stored.sha256
            Capture.of(self.user.pk).update(client_id=str(number))
        connection.close()
