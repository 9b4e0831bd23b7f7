"""The verbatim tail of a session. Its edge moves in steps, since every move costs the prompt cache.

The edge is stored as the number of the window's first message and moves only forward, except when messages
were withdrawn and too few are left. It is always between messages, so a call and its result stay together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions_app.models import Message, MessageRole

MAX_TOKENS = 60_000
SHARE_AFTER_MOVE = 2 / 3
"""An edge that moves for size moves far enough to stay there for the next messages."""
MAX_ROWS = 640
"""The most messages that are read for one window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Where a window begins: at message `number`, 0 for the very first. `is_early`: moved for its size."""

    number: int = 0
    is_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The messages inside, and the edge where they begin."""

    edge: Edge
    messages: Sequence[Message]


def window_start(message_count: int, *, minimum: int, step: int) -> int:
    """Return how many of the oldest messages are outside the window.

    Inside are at least `minimum` messages, and fewer than `minimum + step`: the edge stays until a whole step
    fits before it.
    """
    return max(0, message_count - minimum) // step * step


def windowed(messages: Sequence[Message], *, minimum: int, step: int, older: int = 0) -> Sequence[Message]:
    """Return the window's messages; if the oldest is the assistant's, one more before it.

    `messages` is the end of a history with `older` more before it.
    """
    start = max(0, window_start(older + len(messages), minimum=minimum, step=step) - older)
    return messages[_with_question(messages, start) :]


def rows_to_read(edge: Edge | None, *, last: int, minimum: int, step: int) -> int:
    """Return how many messages to read, of which `last` is the newest number.

    As many as a window can have, or all since an edge that waits.
    """
    usual = minimum + step + 2
    since_edge = last - edge.number + 2 if edge else 0
    return max(usual, min(MAX_ROWS, since_edge))


def open_window(
    messages: Sequence[Message],
    *,
    minimum: int,
    step: int,
    older: int = 0,
    edge: Edge | None = None,
    covered: int | None = None,
    most: int = MAX_TOKENS,
    count_tokens: Callable[[Message], int],
) -> Window:
    """Return the window at its present edge, or at a new one if that no longer fits into `most` tokens.

    An edge that would move for the count alone waits while messages after `covered` would leave: a brief
    covers all until there. With None it doesn't wait. `messages` must reach back as `rows_to_read` says.
    """
    fresh = windowed(messages, minimum=minimum, step=step, older=older)
    if edge is not None and (kept := _from_edge(messages, edge, older=older)):
        is_long_enough = len(kept) >= min(minimum, older + len(messages)) or edge.is_early
        # The count hasn't moved it on, or may not yet.
        is_where_it_was = len(kept) <= len(fresh) or not _is_covered(kept, fresh, covered)
        if is_long_enough and is_where_it_was and _tokens(kept, count_tokens) <= most:
            return Window(edge=edge, messages=kept)
    is_early = _tokens(fresh, count_tokens) > most
    if is_early:
        fresh = _shrunk(fresh, count_tokens, int(most * SHARE_AFTER_MOVE))
    is_whole = len(fresh) == older + len(messages)
    number = 0 if is_whole or not fresh else fresh[0].number
    return Window(edge=Edge(number=number, is_early=is_early and not is_whole), messages=fresh)


def smaller_window(window: Window, count_tokens: Callable[[Message], int]) -> Window | None:
    """Return the end of a window in at most half its tokens; None if only the newest message is left."""
    if len(window.messages) < 2:
        return None
    kept = _shrunk(window.messages, count_tokens, _tokens(window.messages, count_tokens) // 2)
    return Window(edge=Edge(number=kept[0].number, is_early=True), messages=kept)


def _is_covered(kept: Sequence[Message], fresh: Sequence[Message], covered: int | None) -> bool:
    last_to_leave = kept[len(kept) - len(fresh) - 1].number
    return covered is None or last_to_leave <= covered


def _from_edge(messages: Sequence[Message], edge: Edge, *, older: int) -> Sequence[Message]:
    if edge.number == 0:
        return messages if older == 0 else ()
    start = next((index for index, message in enumerate(messages) if message.number >= edge.number), None)
    if start is None or (start == 0 and older > 0 and messages[0].number > edge.number):
        return ()
    return messages[_with_question(messages, start) :]


def _shrunk(
    messages: Sequence[Message], count_tokens: Callable[[Message], int], most: int
) -> Sequence[Message]:
    """Return the newest messages that fit, starting with a user's; always at least one."""
    sizes = [count_tokens(message) for message in messages]
    for start, message in enumerate(messages[:-1]):
        if message.role == MessageRole.USER and sum(sizes[start:]) <= most:
            return messages[start:]
    return messages[-1:]


def _with_question(messages: Sequence[Message], start: int) -> int:
    while start > 0 and messages[start].role == MessageRole.ASSISTANT:
        start -= 1
    return start


def _tokens(messages: Sequence[Message], count_tokens: Callable[[Message], int]) -> int:
    return sum(map(count_tokens, messages))
