"""One request outside a turn, read to its end, with its usage stored."""

import uuid

from django.contrib.auth.models import User

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.metrics import UPSTREAM_ERRORS
from coaching.engine.ports import ModelClient, StreamTimeouts
from coaching.engine.reply import Reply
from coaching.model_client.usage import usage_row
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, UsagePurpose


async def ask(
    client: ModelClient,
    request: ModelRequest,
    *,
    session_id: uuid.UUID | None,
    purpose: UsagePurpose,
    seconds: float,
    user_id: int | None = None,
) -> tuple[Reply, ModelUsage | None]:
    """Return the whole reply and its usage, None where the session is gone with its user.

    What belongs to no session is stored for the user.

    The usage is stored whatever happens. Raises `UpstreamError`.
    """
    timeouts = StreamTimeouts(total_seconds=seconds)
    reply: Reply | None = None
    usage: ModelUsage | None = None
    try:
        async with client.stream(request, timeouts=timeouts) as stream:
            try:
                async for _ in stream:
                    pass
            finally:
                reply = stream.reply()
    finally:
        if reply is not None and reply.has_started:
            usage = await in_database(_store_usage, session_id, user_id, purpose, request.model, reply)
    if not reply.is_whole:
        UPSTREAM_ERRORS.labels("broken_stream").inc()
        raise UpstreamError("broken_stream", detail="no message_stop", is_retryable=True)
    return reply, usage


def _store_usage(
    session_id: uuid.UUID | None, user_id: int | None, purpose: UsagePurpose, model: str, reply: Reply
) -> ModelUsage | None:
    session = Session.unscoped.filter(id=session_id).first() if session_id else None
    owner = session.user_id if session else user_id
    if owner is None or (session is None and session_id) or not User.objects.filter(id=owner).exists():
        return None
    row = usage_row(reply.usage(model))
    row.user_id, row.session, row.purpose = owner, session, purpose
    row.save()
    return row
