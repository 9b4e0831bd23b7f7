"""The tools of the pipeline: what a call about documents may reach is their client, and nothing else."""

from typing import Any

from coaching.library.calls import NO_TOOLS, CallTools


def pipeline_tools() -> CallTools[Any]:
    """Return the tools that a call about documents offers."""
    return NO_TOOLS
