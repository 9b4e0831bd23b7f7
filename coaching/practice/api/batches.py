"""Message batches: many requests at once, whose answers are fetched later. Kept in memory."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from coaching.practice.api.blocks import require_object, require_string
from coaching.practice.api.errors import ApiError, error_body, invalid

MAX_REQUESTS = 100_000
LIFETIME = timedelta(hours=24)

Answer = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(slots=True, kw_only=True)
class Batch:
    """A batch with its results, which are shown once `ends_at` (monotonic seconds) has come."""

    id: str
    results: Mapping[str, dict[str, Any]]
    created_at: datetime
    ends_at: float

    @property
    def has_ended(self) -> bool:
        return time.monotonic() >= self.ends_at


@dataclass(slots=True)
class BatchBook:
    """The batches of a server. `seconds` is how long one takes."""

    seconds: float = 0.0
    batches: dict[str, Batch] = field(default_factory=dict)

    def create(self, body: Mapping[str, Any], answer: Answer) -> Batch:
        """Answer the requests of a batch. Raises `ApiError` for a batch that can't be read."""
        requests = body.get("requests")
        if not isinstance(requests, list) or not 1 <= len(requests) <= MAX_REQUESTS:
            raise invalid("requests: List should have at least 1 item")
        results: dict[str, dict[str, Any]] = {}
        for number, value in enumerate(requests):
            request = require_object(value, f"requests.{number}")
            key = require_string(request.get("custom_id"), f"requests.{number}.custom_id")
            if key in results or not 1 <= len(key) <= 64:
                raise invalid(f"requests.{number}.custom_id: must be unique and have 1 to 64 characters")
            params = dict(require_object(request.get("params"), f"requests.{number}.params"))
            if params.get("stream"):
                raise invalid(f"requests.{number}.params.stream: batches are not streamed")
            results[key] = _result(params, answer)
        batch = Batch(
            id=f"msgbatch_01{secrets.token_hex(11)}",
            results=results,
            created_at=datetime.now(UTC),
            ends_at=time.monotonic() + self.seconds,
        )
        self.batches[batch.id] = batch
        return batch

    def find(self, batch_id: str) -> Batch:
        """Return a batch. Raises a 404 `ApiError`."""
        found = self.batches.get(batch_id)
        if found is None:
            raise ApiError(404, f"message batch {batch_id} not found")
        return found


def described(batch: Batch, url: str) -> dict[str, Any]:
    """Return a batch as the API shows it; `url` is the server's."""
    kinds = [result["type"] for result in batch.results.values()]
    ended = batch.has_ended
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
        "request_counts": {
            "processing": 0 if ended else len(kinds),
            "succeeded": kinds.count("succeeded") if ended else 0,
            "errored": kinds.count("errored") if ended else 0,
            "canceled": 0,
            "expired": 0,
        },
        "created_at": batch.created_at.isoformat(),
        "expires_at": (batch.created_at + LIFETIME).isoformat(),
        "ended_at": datetime.now(UTC).isoformat() if ended else None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"{url}/v1/messages/batches/{batch.id}/results" if ended else None,
    }


def result_lines(batch: Batch) -> bytes:
    """Return the results of a batch that has ended, a JSON object a line. Raises `ApiError` before."""
    if not batch.has_ended:
        raise ApiError(404, f"message batch {batch.id} has no results yet")
    rows = ({"custom_id": key, "result": result} for key, result in batch.results.items())
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def _result(params: dict[str, Any], answer: Answer) -> dict[str, Any]:
    try:
        return {"type": "succeeded", "message": answer(params)}
    except ApiError as error:
        return {"type": "errored", "error": error_body(error.status, str(error), "")}
