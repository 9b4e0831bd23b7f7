"""Shows the new states of a conversation's documents to its readers, in this process and in others."""

from collections.abc import Sequence

from coaching.library.pipeline.batch import Change
from coaching.live.runner import Runner


async def show_documents(runner: Runner, changes: Sequence[Change]) -> None:
    """Notify the processes whose pages show a conversation with one of these documents."""
    for session_id in dict.fromkeys(change.session_id for change in changes if change.session_id):
        await runner.notifier.notify(session_id)
