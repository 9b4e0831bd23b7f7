"""The pictures of a conversation's messages in its requests: the newest ones as images, older ones as words.

A message keeps which pictures were sent with it, so that later requests repeat them byte for byte. They go on
being sent, since people ask about a picture more than once; when there are too many, the older half is
dropped at once. A request only names them: `turns.pictures` puts their bytes in.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coaching.context.library import SeenDocument
from coaching.library.documents.pictures import picture_reference
from coaching.library.rows.attached import ids_in
from sessions_app.models import Message, MessageRole

PICTURES_KEY = "pictures"
"""In a user message's metadata: `ids` of those sent with it, and the number `since` which they are sent."""
MAX_PICTURES = 10
"""As many as one message can have."""
KEPT_PICTURES = 5
"""How many are still sent once there were too many, of messages before the newest."""
DROPPED = "shown earlier, and no longer. If you need to see it, ask for it again."
NO_SIGHT = "You can’t look at pictures. Say so, and ask for words."


def pictures_of(message: Message) -> Sequence[int]:
    """Return the ids of the pictures that were sent with a message."""
    ids: Sequence[int] = message.metadata.get(PICTURES_KEY, {}).get("ids", ())
    return ids


def pictures_since(messages: Iterable[Message]) -> int:
    """Return the number of the first message whose pictures are still sent."""
    return max((message.metadata.get(PICTURES_KEY, {}).get("since", 0) for message in messages), default=0)


def newest_pictures(messages: Sequence[Message], attached: Mapping[int, SeenDocument]) -> Mapping[str, Any]:
    """Return what the newest message's metadata keeps; nothing where there are no pictures.

    A picture that wasn't ready when its own message was sent goes with the next one.
    """
    *earlier, newest = messages
    since = pictures_since(earlier)
    sent = {each for message in earlier for each in pictures_of(message)}
    users = (message for message in messages if message.role == MessageRole.USER)
    ids = dict.fromkeys(each for message in users for each in ids_in(message.metadata))
    new = [each for each in ids if each not in sent and each in attached and attached[each].has_image]
    new = new[-MAX_PICTURES:]
    counts = [(message.number, len(pictures_of(message))) for message in earlier if message.number >= since]
    if len(new) + sum(count for _, count in counts) > MAX_PICTURES:
        while counts and len(new) + sum(count for _, count in counts) > KEPT_PICTURES:
            counts.pop(0)
        since = counts[0][0] if counts else newest.number
    return {"ids": new, "since": since} if new or since else {}


def picture_blocks(
    message: Message, *, since: int, attached: Mapping[int, SeenDocument], has_sight: bool
) -> Sequence[dict[str, Any]]:
    """Return the content blocks of a message's pictures, each with the id of its document."""
    blocks: list[dict[str, Any]] = []
    for each in pictures_of(message):
        is_there = message.number >= since and each in attached and attached[each].has_image
        if is_there and has_sight:
            blocks += [{"type": "text", "text": f"[picture: document {each}]"}, picture_reference(each)]
        else:
            words = DROPPED if has_sight else NO_SIGHT
            blocks.append({"type": "text", "text": f"[picture: document {each}, {words}]"})
    return blocks
