"""Tells readers that a local model reads for a while, and about how long, by what it has read lately."""

from coaching.engine.messages import ModelRequest
from coaching.engine.request_size import prompt_tokens
from coaching.events import ModelReads, Publish
from coaching.model_client.pace import pace_of
from coaching.model_client.servers import is_local_server
from coaching.turns.setup import TurnSetup
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, UsagePurpose

LEAST_SECONDS = 5
"""Less isn't worth words."""


async def tell_reading(setup: TurnSetup, publish: Publish) -> None:
    """Publish that the model reads, if that takes long enough, or if nobody knows."""
    if not is_local_server():
        return
    seconds = await in_database(reading_seconds, setup)
    if seconds is None or seconds >= LEAST_SECONDS:
        publish(ModelReads(seconds=seconds))


def reading_seconds(setup: TurnSetup) -> int | None:
    """Return how long the model will probably read before its first words; None without earlier calls.

    What it has read or written for this conversation it remembers, as a rule.
    """
    rate = pace_of(setup.request.model).read_per_second
    if rate is None:
        return None
    before = (
        ModelUsage.of(setup.user_id)
        .filter(session_id=setup.session_id, purpose=UsagePurpose.TURN, model=setup.request.model)
        .order_by("-created_at")
        .first()
    )
    known = 0 if before is None else before.input_tokens + before.cache_read_tokens + before.output_tokens
    return round(max(0, _tokens_of(setup.request) - known) / rate)


def _tokens_of(request: ModelRequest) -> int:
    return prompt_tokens({"system": request.system, "tools": request.tools, "messages": request.messages})
