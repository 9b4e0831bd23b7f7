"""The verbatim tail of a session. Its edge moves in steps, since every move costs the prompt cache."""

from collections.abc import Sequence

from sessions_app.models import Message, MessageRole


def window_start(message_count: int, *, minimum: int, step: int) -> int:
    """Return how many of the oldest messages are outside the window.

    Inside are at least `minimum` messages, and fewer than `minimum + step`: the edge stays where
    it is until a whole step fits before it.
    """
    return max(0, message_count - minimum) // step * step


def windowed(messages: Sequence[Message], *, minimum: int, step: int) -> Sequence[Message]:
    """Return the window's messages; if the oldest is the assistant's, one more before it."""
    start = window_start(len(messages), minimum=minimum, step=step)
    while start > 0 and messages[start].role == MessageRole.ASSISTANT:
        start -= 1
    return messages[start:]
