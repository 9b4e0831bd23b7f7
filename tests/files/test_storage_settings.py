"""Settings choose the storage; waits are bounded, and the disk storage imports nothing slow."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPORT = """
import json, sys, django
django.setup()
was_loaded = "boto3" in sys.modules
from django.core.files.storage import storages
storage = storages["default"]
config = getattr(storage, "client_config", None)
print(json.dumps({
    "class": type(storage).__name__,
    "was_boto3_loaded": was_loaded,
    "waits": config and [config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]],
    "style": config and config.s3["addressing_style"],
    "bucket": getattr(storage, "bucket_name", None),
}))
"""


def report(tmp_path: Path, **environment: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SAGE_", "AWS_"))}
    done = subprocess.run(
        [sys.executable, "-c", REPORT],
        env={
            **kept,
            "DJANGO_SETTINGS_MODULE": "sage.settings",
            "SAGE_DATA_DIR": str(tmp_path),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def test_without_a_bucket_files_lie_on_disk_and_the_s3_client_is_not_loaded(tmp_path: Path) -> None:
    assert report(tmp_path) == {
        "class": "DiskObjectStorage",
        "was_boto3_loaded": False,
        "waits": None,
        "style": None,
        "bucket": None,
    }


@pytest.mark.parametrize(("endpoint", "style"), [("", "auto"), ("http://storage:9000", "path")])
def test_with_a_bucket_files_lie_in_s3_and_every_wait_is_bounded(
    tmp_path: Path, endpoint: str, style: str
) -> None:
    found = report(tmp_path, SAGE_S3_BUCKET="coach", SAGE_S3_ENDPOINT_URL=endpoint, AWS_REGION="eu-west-1")
    assert (found["class"], found["bucket"]) == ("S3ObjectStorage", "coach")
    assert found["waits"] == [3.0, 5.0, 2]
    assert found["style"] == style
