"""One request outside a turn, read to its end, with its usage stored."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.contrib.auth.models import User

from coaching.engine.errors import UpstreamError
from coaching.engine.json_text import is_object
from coaching.engine.messages import ModelRequest, with_format_in_words
from coaching.engine.metrics import UPSTREAM_ERRORS
from coaching.engine.ports import ModelClient
from coaching.engine.reply import Reply
from coaching.model_client.patience import job_seconds, timeouts_within
from coaching.model_client.servers import doubt_server
from coaching.model_client.usage import usage_row
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, UsagePurpose

WELL_ENDED = frozenset({"end_turn", "stop_sequence"})


async def request_reply(
    client: ModelClient,
    request: ModelRequest,
    *,
    session_id: uuid.UUID | None,
    purpose: UsagePurpose,
    seconds: float,
    user_id: int | None = None,
) -> tuple[Reply, ModelUsage | None]:
    """Return the whole reply and its usage, None where the session is gone with its user.

    What belongs to no session is stored for the user. It may take `seconds`, longer with a local server.

    The usage is stored whatever happens. Raises `UpstreamError`.
    """
    spent: list[Reply] = []
    usage: ModelUsage | None = None
    try:
        reply = await read_reply(client, request, seconds=job_seconds(seconds), spent=spent.append)
    except UpstreamError:
        doubt_server()
        raise
    finally:
        for begun in spent:
            row = usage_row(begun.usage(request.model))
            row.session_id, row.purpose = session_id, purpose
            if user_id is not None:
                row.user_id = user_id
            usage = await in_database(store_usage, row)
    return reply, usage


async def request_object(
    client: ModelClient,
    request: ModelRequest,
    *,
    session_id: uuid.UUID | None,
    purpose: UsagePurpose,
    seconds: float,
    user_id: int | None = None,
) -> tuple[Reply, ModelUsage | None]:
    """Request structured output, once more in words if prose comes. See `request_reply`."""
    requested = partial(
        request_reply, client, session_id=session_id, purpose=purpose, seconds=seconds, user_id=user_id
    )
    reply, usage = await requested(request)
    if reply.stop_reason in WELL_ENDED and not is_object(reply.text):
        return await requested(with_format_in_words(request))
    return reply, usage


async def read_reply(
    client: ModelClient, request: ModelRequest, *, seconds: float, spent: Callable[[Reply], None]
) -> Reply:
    """Return the whole reply. `spent` gets one that has begun, however it ends. Raises `UpstreamError`."""
    timeouts = replace(timeouts_within(seconds), total_seconds=seconds)
    async with client.stream(request, timeouts=timeouts) as stream:
        try:
            async for _ in stream:
                pass
        finally:
            reply = stream.reply()
            if reply.has_started:
                spent(reply)
    if not reply.is_whole:
        UPSTREAM_ERRORS.labels("broken_stream").inc()
        raise UpstreamError("broken_stream", detail="no message_stop", is_retryable=True)
    return reply


def store_usage(row: ModelUsage) -> ModelUsage | None:
    """Store the usage of a request outside a turn; return None where its session or user is gone."""
    if row.session_id:
        owner = Session.unscoped.filter(id=row.session_id).values_list("user_id", flat=True).first()
    else:
        owner = row.user_id
    if owner is None or not User.objects.filter(id=owner).exists():
        return None
    row.user_id = owner
    row.save()
    return row
