"""Storages for file tests: disk and S3, each real and empty."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import storages
from pytest_django import Settings

from tests.files.s3_server import FaultProxy, S3Server
from tests.groups import require_group


@dataclass(frozen=True, slots=True, kw_only=True)
class S3:
    """A bucket behind the proxy."""

    proxy: FaultProxy
    bucket: str


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    require_group("s3")
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def disk_storage(settings: Settings, tmp_path: Path) -> Path:
    """Files go to this folder."""
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "location": tmp_path / "files"}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    return tmp_path / "files"


@pytest.fixture
def s3_storage(settings: Settings, s3_server: S3Server) -> Iterator[S3]:
    """Store files in a bucket; calls to a broken server time out after half a second."""
    bucket = f"sage-{uuid4().hex}"
    s3_server.make_bucket(bucket)
    proxy = FaultProxy(s3_server.port)
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "coaching.files.s3_storage.S3ObjectStorage",
            "OPTIONS": {
                "bucket_name": bucket,
                "endpoint_url": proxy.url,
                "access_key": "test",
                "secret_key": "test",
                "region_name": "eu-central-1",
                "connect_seconds": 0.5,
                "read_seconds": 0.5,
            },
        },
    }
    yield S3(proxy=proxy, bucket=bucket)
    storage: Any = storages["default"]  # importing its class takes long, and few tests need it
    # Close it if there is one: creating it takes a tenth of a second.
    if (own := getattr(storage._connections, "connection", None)) is not None:
        own.meta.client.close()
    if "client" in vars(storage):
        storage.client.close()
    proxy.stop()


@pytest.fixture(params=["disk", pytest.param("s3", marks=pytest.mark.s3)])
def each_storage(request: pytest.FixtureRequest) -> str:
    """The test runs once on disk and once on S3."""
    request.getfixturevalue(f"{request.param}_storage")
    return str(request.param)
