"""A background job that forgets programs: expired tokens, and who registered without being let in."""

import structlog
from django.utils import timezone
from procrastinate.contrib.django import app

from coaching.programs.clients import forget_unused
from coaching.programs.grants import forget_ended
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)


@app.periodic(cron="29 * * * *")
@app.task(name="forget_programs", queueing_lock="forget_programs")
async def forget_programs(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Delete tokens that have expired, then programs that nobody has consented to for a day."""
    now = timezone.now()
    tokens = await in_database(forget_ended, now)
    clients = await in_database(forget_unused, now)
    logger.info("programs_forgotten", tokens=tokens, clients=clients)
