"""What the window has sent about a life, and the opening, which sends it first.

The opening is a block stored on the session, sent before the window and rebuilt only when the window's edge
moves. Later changes go with the newest user message, are stored with it and are sent again byte for byte.
Both are values here; nothing here reads or writes the database.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coaching.context.window import Edge
from coaching.engine.messages import canonical_json
from coaching.skills.callers import SkillTools, is_named
from sessions_app.models import Message, MessageRole

CONTEXT_KEY = "context"
"""In a user message's metadata: the text that was sent before the user's words."""
SAID_KEY = "said"
"""Next to it: the sections in that text, in which state, and when."""

GONE = "gone"
"""The digest of a section that was sent as gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The content of one text: sections by name with the digest of their content, and their size in tokens.

    `clock` is the time in its header, None without one.
    """

    sections: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    clock: datetime | None = None

    @property
    def tokens(self) -> int:
        return sum(self.sizes.values())

    def as_json(self) -> dict[str, Any]:
        clock = self.clock.isoformat() if self.clock else None
        return {"sections": dict(self.sections), "sizes": dict(self.sizes), "clock": clock}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Statement":
        clock = values.get("clock")
        return cls(
            sections=values.get("sections", {}),
            sizes=values.get("sizes", {}),
            clock=datetime.fromisoformat(clock) if clock else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The block before the window. Each of `texts` is sent as a text block; `edge` is the window's.

    `offered` maps the arcs that were offered before the window to the day. `brief` is the version of the
    brief in it, 0 for none, which covers the messages until `brief_covers`; `brief_revision` is the session's
    at that time.
    """

    edge: Edge
    texts: Sequence[str]
    statement: Statement
    offered: Mapping[str, str] = field(default_factory=dict)
    brief: int = 0
    brief_covers: int = 0
    brief_revision: int = 0

    def to_text(self) -> str:
        """Return the stored form: canonical JSON text."""
        return canonical_json(
            {
                "edge": self.edge.number,
                "is_early": self.edge.is_early,
                "texts": list(self.texts),
                "statement": self.statement.as_json(),
                "offered": dict(self.offered),
                "brief": self.brief,
                "brief_covers": self.brief_covers,
                "brief_revision": self.brief_revision,
            }
        )

    @classmethod
    def from_text(cls, text: str) -> "Opening | None":
        """Read the output of `to_text`; None for an empty text."""
        if not text:
            return None
        values = json.loads(text)
        return cls(
            edge=Edge(number=values["edge"], is_early=values["is_early"]),
            texts=tuple(values["texts"]),
            statement=Statement.from_json(values["statement"]),
            offered=values["offered"],
            brief=values.get("brief", 0),
            brief_covers=values.get("brief_covers", 0),
            brief_revision=values.get("brief_revision", 0),
        )


def statement_of(message: Message) -> Statement | None:
    """Return the statement sent with a user's message, None if there was none."""
    said = message.metadata.get(SAID_KEY)
    return Statement.from_json(said) if said else None


def sections_said_with(message: Message) -> Mapping[str, str]:
    """Return the sections of the statement sent with a user's message, none if there was none."""
    said = message.metadata.get(SAID_KEY) or {}
    sections: Mapping[str, str] = said.get("sections", {})
    return sections


def said_last(statements: Iterable[Statement]) -> Statement:
    """Return the last state of each section after all statements, without sizes."""
    sections: dict[str, str] = {}
    clock = None
    for statement in statements:
        sections.update(statement.sections)
        clock = statement.clock or clock
    return Statement(sections=sections, clock=clock)


def skills_in_results(messages: Iterable[Message], tools: SkillTools) -> Mapping[str, str]:
    """Return the skills whose text is in a tool result of these messages, each with its caller."""
    found: dict[str, str] = {}
    asked = ""
    for message in messages:
        asked = message.content if message.role == MessageRole.USER else asked
        for call in message.metadata.get("tool_calls", ()):
            tool = None if call["is_error"] else tools.get(call["name"])
            if tool and (name := tool.skill_brought(call["input"], call["result"])):
                found[name] = tool.caller(is_asked=is_named(name, asked))
    return found
