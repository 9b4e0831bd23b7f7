"""Objects in S3, with a limit on every wait. Imported only with a bucket: boto3 is slow to load."""

from collections.abc import Iterator
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import Any

import structlog
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
from django.core.files.base import File
from django.utils.deconstruct import deconstructible
from storages.backends.s3 import S3Storage

from coaching.files.objects import ListedObject

logger = structlog.get_logger(__name__)

KEYS_A_REQUEST = 1000
MAX_BYTES_AT_ONCE = 1 << 20
_NO_VERSIONS = frozenset({"AccessDenied", "MethodNotAllowed", "NotImplemented"})


@deconstructible
class S3ObjectStorage(S3Storage):  # type: ignore[misc]  # the package has no types
    """django-storages' S3 storage with short timeouts, two attempts and no threads of its own.

    Two attempts stay below `objects.STORAGE_SECONDS`. Keys are random, so writes don't check whether one is
    taken. A server with its own endpoint gets the bucket in the path; only checksums that all servers support
    are sent.
    """

    def __init__(
        self, *, connect_seconds: float = 3.0, read_seconds: float = 5.0, attempts: int = 2, **options: Any
    ) -> None:
        client_config = Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if options.get("endpoint_url") else "auto"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            connect_timeout=connect_seconds,
            read_timeout=read_seconds,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=16,
        )
        super().__init__(
            client_config=client_config,
            transfer_config=TransferConfig(use_threads=False),
            file_overwrite=True,
            max_memory_size=MAX_BYTES_AT_ONCE,
            **options,
        )

    @property
    def connection(self) -> Any:
        """The resource of this thread."""
        made = super().connection
        # The id prevents duplicate registrations.
        events = made.meta.client.meta.events
        events.register_last("before-call.s3", _skip_expect, unique_id="sage-skip-expect")
        return made

    @cached_property
    def client(self) -> Any:
        """The client that all threads share for writes. Creating one takes a tenth of a second or more."""
        return self.connection.meta.client

    def warm(self) -> None:
        """Create the client now, so that the first write doesn't wait for it."""
        _ = self.client

    def _save(self, name: str, content: "File[bytes]") -> str:
        """Write small objects with the shared client; django-storages creates one per thread."""
        if content.size > MAX_BYTES_AT_ONCE:
            saved_as: str = super()._save(name, content)
            return saved_as
        content.seek(0)
        self.client.put_object(
            Bucket=self.bucket_name,
            Key=self._normalize_name(name),
            Body=content.read(),
            **self._get_write_parameters(name, content),
        )
        return name

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        pages = self.connection.meta.client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket_name, Prefix=prefix
        )
        for page in pages:
            for entry in page.get("Contents", ()):
                yield ListedObject(key=entry["Key"], modified_at=entry["LastModified"])

    def delete(self, name: str) -> None:
        """Delete an object with its old versions, as `erase` does: no other key begins with it.

        Where the rights are missing for that, or the server can't do it, only the newest version.
        """
        try:
            for _ in self.erase(name):
                pass
        except PermissionError:
            pass
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
        else:
            return
        logger.warning("versions_not_deleted", key=name)
        super().delete(name)

    def erase(self, prefix: str) -> Iterator[int]:
        """Delete objects by prefix, with old versions if we may list them; yield after each request."""
        for found in self._versions(prefix):
            answer = self.connection.meta.client.delete_objects(
                Bucket=self.bucket_name, Delete={"Objects": found, "Quiet": True}
            )
            if errors := answer.get("Errors"):
                is_denied = all(error.get("Code") == "AccessDenied" for error in errors)
                raise (PermissionError if is_denied else OSError)(f"{len(errors)} objects were not deleted")
            yield len(found)

    def _versions(self, prefix: str) -> Iterator[list[dict[str, str]]]:
        """Yield the objects under `prefix`, up to a thousand at a time, as a delete request names them."""
        pages = self.connection.meta.client.get_paginator("list_object_versions").paginate(
            Bucket=self.bucket_name, Prefix=prefix
        )
        try:
            for page in pages:
                entries = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
                if entries:
                    yield [{"Key": entry["Key"], "VersionId": entry["VersionId"]} for entry in entries]
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") not in _NO_VERSIONS:
                raise
            logger.warning("versions_not_listed", prefix=prefix)
            listed = self.list_objects(prefix)
            while batch := list(islice(listed, KEYS_A_REQUEST)):
                yield [{"Key": entry.key} for entry in batch]


def _skip_expect(params: dict[str, Any], **_: Any) -> None:
    """Send an object without `Expect: 100-continue`, which costs a round trip."""
    params["headers"].pop("Expect", None)
