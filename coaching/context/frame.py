"""The part of a request before its messages: the model, `system` and tools. It is the same for everybody.

What else fits into a request follows from it.
"""

from typing import Any

from django.conf import settings

from coaching.context.budget import count_tokens
from coaching.context.prompt_tools import PromptTools
from coaching.context.sizes import PromptSizes, sizes_of
from coaching.engine.messages import ModelRequest
from coaching.model_client.context_size import context_tokens_of, most_result_bytes
from coaching.model_client.patience import turn_tokens
from coaching.skills.loader import SkillLibrary, load_library, skills_moment
from sessions_app.models import Session

LONG_CACHE = {"type": "ephemeral", "ttl": "1h"}
SHORT_CACHE = {"type": "ephemeral"}
TAIL_CACHE = SHORT_CACHE
"""On the request itself: a breakpoint that always follows the last block."""


def build_frame(
    session: Session, *, tools: PromptTools[Any], library: SkillLibrary | None = None
) -> ModelRequest:
    """Build the part of a request before its messages: the model, `system` and tools."""
    library = library or load_library(skills_moment(session))
    return ModelRequest(
        model=settings.SAGE_MODEL,
        system=[
            {
                "type": "text",
                "text": library.base_prompt(tools.offered_skill_tools, base_skill=tools.base_skill),
                "cache_control": LONG_CACHE,
            }
        ],
        tools=tools.definitions(),
        messages=[],
        max_tokens=turn_tokens(),
        cache_control=TAIL_CACHE,
        most_result_bytes=most_result_bytes(settings.SAGE_MODEL),
    )


def frame_tokens(frame: ModelRequest, tools: PromptTools[Any]) -> int:
    return sum(count_tokens(block["text"]) for block in frame.system) + tools.tokens


def sizes_beside(frame_tokens: int) -> PromptSizes:
    """Return the sizes of what a request has besides a frame of so many tokens."""
    return sizes_of(
        context_tokens_of(settings.SAGE_MODEL),
        frame_tokens=frame_tokens,
        answer_tokens=turn_tokens(),
        messages=settings.SAGE_WINDOW_MESSAGES,
        step=settings.SAGE_WINDOW_STEP,
    )
