"""How the context of a model is shared in a turn: by Sage's own words, what is known, the window, the answer.

With a large context each part has a limit of its own. With a small one they share what there is.
"""

from dataclasses import dataclass

from coaching.context.budget import PROMPT_TOKENS, SPARE_TOKENS
from coaching.context.window import MAX_TOKENS
from coaching.engine.messages import MAX_RESULT_BYTES
from coaching.model_client.context_size import COMPACT_BELOW

ANSWER_SHARE = 1 / 6
"""The share of the context that stays free for an answer."""
ROOM_SHARE = 0.4
"""The share of the rest, without base prompt and tools, for sections; the window has what is left."""
OLDER_SHARE = 0.4
"""The share of a smaller window than usual for one message, after the turn that it began."""
COMPACT_MESSAGES, COMPACT_STEP = 7, 4
"""The window of a compact request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSizes:
    """The parts of a request in tokens. `room`: sections, skills and brief; `window`: the conversation.

    The newest message is sent shortened if it is longer than `window`, an older one of the user if it is
    longer than `older_message`. `messages` and `step` are the window's, and a result of a tool in it takes at
    most `result_bytes`.
    """

    room: int
    window: int
    older_message: int
    result_bytes: int
    messages: int
    step: int


def sizes_of(
    context_tokens: int, *, frame_tokens: int, answer_tokens: int, messages: int, step: int
) -> PromptSizes:
    """Divide a context, less a frame, by what is wanted: `answer_tokens`, `messages` and `step`."""
    answer = min(answer_tokens, int(context_tokens * ANSWER_SHARE))
    left = max(0, context_tokens - answer - SPARE_TOKENS - frame_tokens)
    room = min(PROMPT_TOKENS - SPARE_TOKENS - frame_tokens, int(left * ROOM_SHARE))
    is_compact = context_tokens < COMPACT_BELOW
    window = min(MAX_TOKENS, left - room)
    return PromptSizes(
        room=room,
        window=window,
        older_message=window if window == MAX_TOKENS else int(window * OLDER_SHARE),
        result_bytes=min(MAX_RESULT_BYTES, context_tokens // 2),
        messages=min(messages, COMPACT_MESSAGES) if is_compact else messages,
        step=min(step, COMPACT_STEP) if is_compact else step,
    )
