"""How many tokens a model takes at once, and what follows from it for requests and replies."""

from django.conf import settings

from coaching.engine.profiles import profile_for
from coaching.model_client.servers import probed_context_tokens

UNKNOWN_MODEL_TOKENS = 32_000
COMPACT_BELOW = 16_000
"""Models with less get the short base skill, a few tools and a small window."""
ROOMY_TOKENS = 100_000
"""From here on, a result of a tool goes back to the model whole."""
INPUT_SHARE = 0.5
"""The share of a context that a request outside of turns may take for what it reads."""


def context_tokens_of(model: str) -> int:
    """Return how many tokens a request to a model and its reply may take together."""
    if settings.SAGE_CONTEXT_TOKENS:
        return int(settings.SAGE_CONTEXT_TOKENS)
    known = profile_for(model).context_tokens
    return known or probed_context_tokens() or UNKNOWN_MODEL_TOKENS


def is_compact(model: str) -> bool:
    """Whether requests of turns to this model are compact."""
    return context_tokens_of(model) < COMPACT_BELOW


def most_result_bytes(model: str) -> int | None:
    """Return how much of a tool's result is sent to a model: an eighth of its context; None for all."""
    context = context_tokens_of(model)
    return None if context >= ROOMY_TOKENS else context // 2


def most_input(model: str, most: int) -> int:
    """Return how many tokens a request outside of turns may read: `most`, or what the context allows."""
    return min(most, int(context_tokens_of(model) * INPUT_SHARE))
