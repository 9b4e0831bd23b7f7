"""Objects: the bytes of a version in the storage backend, each under its own random key.

An object is written before its row and never changed. This module uses no database, and no call blocks the
event loop: storage calls have their own threads and a time limit.
"""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol, cast, runtime_checkable

import structlog
from asgiref.sync import async_to_sync
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import ContentFile, File
from django.core.files.storage import storages

from coaching.files.errors import ObjectsNotErased, StorageFailed
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

OBJECTS_PREFIX = "users/"
STORAGE_SECONDS = 20.0
ERASE_SECONDS = 60.0
"""Enough for two requests with a retry each: listing a thousand objects and deleting them."""
THREADS = 8
PIECE_BYTES = 1 << 16
STORAGE_ERRORS = (OSError, BotoCoreError, ClientError)

_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="storage")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """Bytes confirmed by the storage."""

    key: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObject:
    """An object in the storage, with or without a row."""

    key: str
    modified_at: datetime


@runtime_checkable
class ObjectStorage(Protocol):
    """Our additions to Django's storage API: listing objects with times, and erasing."""

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        """Yield every object whose key starts with `prefix`."""
        ...

    def delete(self, name: str) -> None:
        """Delete an object; a missing one is no error."""
        ...

    def erase(self, prefix: str) -> Iterator[int]:
        """Permanently delete objects by folder, old versions too; yield after each thousand or so."""
        ...


@runtime_checkable
class WarmStorage(Protocol):
    """A storage with an expensive first write."""

    def warm(self) -> None: ...


async def store_object(
    *, user_id: int, data: bytes, deadline_seconds: float = STORAGE_SECONDS
) -> StoredObject:
    """Store bytes under a new key and return it once the storage has confirmed them.

    Raises `StorageFailed` for every failure and after `deadline_seconds`. The bytes may have arrived anyway:
    no row will refer to them, and garbage collection removes them.
    """
    key = f"{OBJECTS_PREFIX}{user_id}/{uuid.uuid4().hex}"
    try:
        async with asyncio.timeout(deadline_seconds):
            await asyncio.get_running_loop().run_in_executor(_executor, _save, key, data)
    except STORAGE_ERRORS as error:
        # Only the class: a storage's message may contain addresses and credentials.
        logger.warning("object_not_stored", user_id=user_id, key=key, error=type(error).__name__)
        raise StorageFailed from error
    return StoredObject(key=key, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def store_upload_now(*, user_id: int, file: "File[bytes]") -> str:
    """Store a large file from sync code, without reading it into memory, and return its key.

    Outside transactions and without a connection. Raises `StorageFailed`.
    """
    give_back_connections()
    key = f"{OBJECTS_PREFIX}{user_id}/{uuid.uuid4().hex}"
    try:
        saved_as = storages["default"].save(key, file)
    except STORAGE_ERRORS as error:
        logger.warning("object_not_stored", user_id=user_id, key=key, error=type(error).__name__)
        raise StorageFailed from error
    return saved_as


def erase_object_now(key: str) -> None:
    """Delete an object; what fails is left to garbage collection, once no row names it."""
    give_back_connections()
    try:
        storages["default"].delete(key)
    except STORAGE_ERRORS as error:
        logger.warning("object_not_removed", key=key, error=type(error).__name__)


def store_object_now(*, user_id: int, data: bytes) -> StoredObject:
    """Store bytes from sync code, outside transactions and without a connection. Raises `StorageFailed`."""
    give_back_connections()
    return async_to_sync(store_object)(user_id=user_id, data=data)


@contextmanager
def open_object(key: str) -> Iterator[BinaryIO]:
    """Open an object to read. Blocks; large objects don't lie in memory. Raises `StorageFailed`."""
    give_back_connections()
    try:
        with storages["default"].open(key) as file:
            yield cast("BinaryIO", file)
    except STORAGE_ERRORS as error:
        logger.warning("object_not_read", key=key, error=type(error).__name__)
        raise StorageFailed from error


def read_pieces(key: str) -> Iterator[bytes]:
    """Yield an object's bytes. Blocks. Raises `StorageFailed`."""
    with open_object(key) as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


async def stream_object(key: str) -> AsyncIterator[bytes]:
    """Yield an object's bytes off the event loop. Raises `StorageFailed`."""
    pieces = read_pieces(key)
    try:
        while True:
            async with asyncio.timeout(STORAGE_SECONDS):
                piece = await asyncio.get_running_loop().run_in_executor(_executor, next, pieces, b"")
            if not piece:
                return
            yield piece
    except TimeoutError as error:
        raise StorageFailed from error


async def erase_objects(*, user_id: int, deadline_seconds: float = ERASE_SECONDS) -> int:
    """Delete all objects of a user, including old versions; return how many there were.

    Raises `ObjectsNotErased` if some may be left: after a failure, or if a thousand of them take longer than
    `deadline_seconds`. Another call continues.
    """
    erased, batches = 0, _erase(f"{OBJECTS_PREFIX}{user_id}/")
    try:
        while True:
            async with asyncio.timeout(deadline_seconds):
                number = await asyncio.get_running_loop().run_in_executor(_executor, next, batches, None)
            if number is None:
                return erased
            erased += number
    except STORAGE_ERRORS as error:
        logger.warning("objects_not_erased", user_id=user_id, error=type(error).__name__)
        raise ObjectsNotErased from error


def warm_storage() -> None:
    """Prepare the storage, so that the first write doesn't wait for it."""
    storage = storages["default"]
    if isinstance(storage, WarmStorage):
        storage.warm()


def _erase(prefix: str) -> Iterator[int]:
    storage = storages["default"]
    if not isinstance(storage, ObjectStorage):
        raise TypeError(f"{type(storage).__name__} can't erase its objects")
    yield from storage.erase(prefix)


def _save(key: str, data: bytes) -> None:
    saved_as = storages["default"].save(key, ContentFile(data))
    if saved_as != key:
        raise OSError("the storage chose another key")
