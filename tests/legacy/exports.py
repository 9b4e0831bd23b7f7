"""Exports to import: a generator of any size for the earlier app's, and samples of ChatGPT's and Claude's."""

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.legacy.broken_replies import SHARE, broken_reply

BEGAN = datetime(2023, 1, 2, 7, 30, tzinfo=UTC)
KINDS = ("open_conversation", "open_day", "close_day", "weekly_checkin", "life_mapping")
DOMAINS = ("career", "relationships", "health", "finances", "learning", "creativity", "play", "meaning")
TOPICS = ("the garden", "my sister", "running", "the thesis", "Lisbon", "sleep", "the budget", "the choir")
SENTENCE = """I keep coming back to this and wonder what would make it easier next week because the mornings
are short and the evenings belong to the children while the work on the roof goes on and nobody sleeps much"""
WORDS = SENTENCE.split()
LIGHTHOUSE = "lighthouse"
"""A word in the first message of each session, with its number."""


def sage_export(*, sessions: int, messages: int, files: int = 0, ratings: int = 0) -> Iterator[str]:
    """Yield the earlier app's export, line by line, the same for the same numbers.

    Some replies have well-formed blocks, and a few broken ones.
    """
    chance = random.Random(7)
    profile = {"name": "Ada", "timezone": "Europe/Lisbon"}
    yield f'{{"profile": {json.dumps(profile)},\n"sessions": [\n'
    share, rest = divmod(messages, sessions)
    for number in range(sessions):
        session = _session(number, share + (number < rest), chance)
        yield json.dumps(session, indent=1) + (",\n" if number < sessions - 1 else "\n")
    yield '],\n"files": '
    yield json.dumps([_file(number) for number in range(files)], indent=1)
    yield ',\n"ratings": '
    yield json.dumps([_rating(number) for number in range(ratings)], indent=1)
    yield "}\n"


def write_sage_export(path: Path, **numbers: int) -> Path:
    """Write an export of that size."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(sage_export(**numbers))
    return path


def _session(number: int, messages: int, chance: random.Random) -> dict[str, Any]:
    begun = BEGAN + timedelta(hours=9 * number)
    kind = KINDS[number % len(KINDS)]
    said = [_message(number, place, begun, chance) for place in range(messages)]
    return {
        "id": f"s-{number}",
        "kind": kind,
        "status": "active" if kind == "open_conversation" else ("completed", "expired")[number % 2],
        "started_at": begun.isoformat(),
        "messages": said,
    }


def _message(number: int, place: int, begun: datetime, chance: random.Random) -> dict[str, Any]:
    words = " ".join(chance.choices(WORDS, k=chance.randint(20, 70)))
    topic = TOPICS[chance.randrange(len(TOPICS))]
    text = f"About {topic}: {words}." + (f" {LIGHTHOUSE}{number}" if place == 0 else "")
    if place % 2 and place % 6 == 5:
        opening = f'[FILE_UPDATE type="daily-log" name="{begun.date().isoformat()}"]'
        text += f"\n{opening}\nA day of {topic}.\n[/FILE_UPDATE]"
    elif place % 2 and chance.random() < SHARE:
        text = broken_reply(chance)
    return {
        "id": f"m-{number}-{place}",
        "role": ("user", "assistant")[place % 2],
        "content": text,
        "created_at": (begun + timedelta(minutes=2 * place)).isoformat(),
    }


def _file(number: int) -> dict[str, Any]:
    day = (BEGAN + timedelta(days=number)).date().isoformat()
    return {
        "path": f"check-ins/{day}.md",
        "content": f"---\ntype: check-in\ndate: {day}\n---\n\n# Week\n\nThe harbour, week {number}.\n",
        "updated_at": (BEGAN + timedelta(days=number)).isoformat(),
    }


def _rating(number: int) -> dict[str, Any]:
    return {
        "domain": DOMAINS[number % len(DOMAINS)],
        "rating": 1 + number % 5,
        "rated_at": (BEGAN + timedelta(days=number)).isoformat(),
    }


def chatgpt_node(
    key: str,
    parent: str | None,
    role: str = "",
    *parts: object,
    children: tuple[str, ...] = (),
    minute: int = 0,
    kind: str = "text",
    **fields: Any,
) -> Mapping[str, Any]:
    """Make a node of a conversation's mapping; without a role it has no message."""
    message = role and {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": BEGAN.timestamp() + 60 * minute + 0.125,
        "update_time": None,
        "content": {"content_type": kind, "parts": list(parts)},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        "channel": None,
        **fields,
    }
    return {key: {"id": key, "message": message or None, "parent": parent, "children": list(children)}}


def chatgpt_conversation() -> dict[str, Any]:
    """Return a conversation whose first question was edited and whose last answer was asked for twice."""
    mapping = {
        **chatgpt_node("root", None, children=("system",)),
        **chatgpt_node(
            "system",
            "root",
            "system",
            "",
            children=("old", "new"),
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        **chatgpt_node("old", "system", "user", "How do I grow beans?", children=("old-answer",), minute=1),
        **chatgpt_node("old-answer", "old", "assistant", "The abandoned branch.", minute=2),
        **chatgpt_node("new", "system", "user", "How do I grow artichokes?", children=("search",), minute=3),
        **chatgpt_node(
            "search", "new", "assistant", "", children=("found",), minute=4, kind="code", recipient="web"
        ),
        **chatgpt_node("found", "search", "tool", "A page.", children=("first", "second"), minute=4),
        **chatgpt_node("first", "found", "assistant", "The first try.", minute=5),
        **chatgpt_node(
            "second",
            "found",
            "assistant",
            "In deep soil \ue200cite\ue202turn0search0\ue201with sun【3†source】.",
            children=("picture",),
            minute=6,
        ),
        **chatgpt_node(
            "picture",
            "second",
            "user",
            {"content_type": "image_asset_pointer", "asset_pointer": "file://x"},
            "Is this one?",
            children=("last",),
            minute=7,
            kind="multimodal_text",
        ),
        **chatgpt_node("last", "picture", "assistant", "Yes, a young one.", minute=8),
    }
    return {
        "title": "Growing artichokes",
        "create_time": BEGAN.timestamp(),
        "update_time": BEGAN.timestamp() + 600,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": "last",
        "conversation_id": "c-1",
        "id": "c-1",
        "is_archived": False,
    }


def claude_message(
    key: str, sender: str, text: str, *, parent: str | None = None, minute: int = 0
) -> dict[str, Any]:
    """Make a message; the text stands in a block, as in exports of today."""
    moment = (BEGAN + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")
    made = {
        "uuid": key,
        "text": text,
        "content": [
            {"type": "thinking", "thinking": "Hm.", "start_timestamp": moment},
            {"type": "text", "text": text, "citations": [], "start_timestamp": moment},
        ],
        "sender": sender,
        "created_at": moment,
        "updated_at": moment,
        "attachments": [],
        "files": [],
    }
    return made | ({"parent_message_uuid": parent} if parent else {})


def claude_conversation() -> dict[str, Any]:
    """Return a conversation with an edited question."""
    nobody = "00000000-0000-4000-8000-000000000000"
    return {
        "uuid": "k-1",
        "name": "A letter to the landlord",
        "summary": "",
        "created_at": "2023-01-02T07:30:00.000000Z",
        "updated_at": "2023-01-02T07:40:00.000000Z",
        "account": {"uuid": "a-1"},
        "chat_messages": [
            claude_message("q1", "human", "Help me write to my landlord.", parent=nobody, minute=1),
            claude_message("a1", "assistant", "Gladly.", parent="q1", minute=2),
            claude_message("q2", "human", "An abandoned question.", parent="a1", minute=3),
            claude_message("a2", "assistant", "An abandoned answer.", parent="q2", minute=4),
            claude_message("q3", "human", "Begin with the boiler.", parent="a1", minute=5)
            | {"attachments": [{"file_name": "boiler.pdf", "file_size": 10, "extracted_content": "…"}]},
            claude_message("a3", "assistant", "Dear Ms Ferro, the boiler…", parent="q3", minute=6),
        ],
    }
