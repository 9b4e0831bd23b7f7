"""Encodes passages that have no vector yet: what was said since the last time, or a whole history.

Each batch is stored at once, so a job that was interrupted goes on where it stopped.
"""

import asyncio
import time
from collections.abc import Sequence

import structlog
from django.conf import settings

from coaching.recall.encoder import Encoder, ModelEncoder, NotEncoded, has_packages
from coaching.recall.vectors import (
    make_room_for_vectors,
    people_behind,
    read_unencoded,
    store_vectors,
)
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

NICENESS = 10
LOAD_SECONDS = 600.0
"""A model that is named is downloaded the first time."""
BATCH = 16
"""Passages of a request: about a second."""
AT_ONCE = 256
"""Of one person, before it's the next one's turn. Together they stand on few pages of the table."""
MAX_SECONDS = 240.0
"""After which the job ends, and the next one goes on."""
BATCH_SECONDS = 120.0


async def encode_what_is_new() -> int:
    """Encode with the configured model, in a process for this job alone; return how many passages."""
    model: str = settings.SAGE_EMBEDDING_MODEL
    if not (model and has_packages()):
        return 0
    encoder = ModelEncoder(model, niceness=NICENESS)
    try:
        people = await people_to_encode(encoder)
        if not people:
            return 0
        if not await asyncio.to_thread(encoder.wait_until_loaded, seconds=LOAD_SECONDS):
            logger.warning("encoder_not_loaded")
            return 0
        return await encode_passages(people, encoder=encoder)
    finally:
        encoder.close()


async def people_to_encode(encoder: Encoder) -> Sequence[int]:
    """Return the users with passages to encode; none where the database can't store vectors."""
    if not await in_database(make_room_for_vectors):
        return ()
    return await in_database(people_behind, model=encoder.key)


async def encode_passages(people: Sequence[int], *, encoder: Encoder, seconds: float = MAX_SECONDS) -> int:
    """Encode what these users have said, for a while; return how many passages got a vector."""
    end = time.monotonic() + seconds
    count = 0
    while people and time.monotonic() < end:
        left: list[int] = []
        for user_id in people:
            if time.monotonic() >= end:
                break
            passages = await in_database(read_unencoded, user_id, model=encoder.key, limit=AT_ONCE)
            if len(passages) == AT_ONCE:
                left.append(user_id)
            for start in range(0, len(passages), BATCH):
                batch = passages[start : start + BATCH]
                vectors = await _encoded([passage.text for passage in batch], encoder)
                if vectors is None:
                    return count
                count += await in_database(store_vectors, user_id, batch, vectors, model=encoder.key)
        people = left
    return count


async def _encoded(texts: Sequence[str], encoder: Encoder) -> Sequence[Sequence[float]] | None:
    """Return the vectors of texts; None where the encoder can't go on."""
    begun = encoder.begin(texts)
    if begun is None:
        return None
    try:
        return await asyncio.wait_for(asyncio.wrap_future(begun), BATCH_SECONDS)
    except (NotEncoded, TimeoutError):
        logger.warning("encoding_stopped")
        return None
