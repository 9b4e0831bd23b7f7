"""Tiers: where tools are offered, and what becomes of their writes there.

A tool is one object in all of them. What it may reach and whether its writes wait for the user is the tier's.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from coaching.engine.tools import WAITING_KINDS, ToolKind
from coaching.models import MadeBy

TierName = Literal["chat", "pipeline", "program"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """The policy of a tier. With `only_proposes` a write waits in the library for the user's yes.

    With `names_source` a write names the document that it rests on. A call that `is_outside` comes from
    another program, `program` by name: it gets nothing that was said in a conversation, and no private file.
    """

    name: TierName
    waiting_kinds: frozenset[ToolKind]
    only_proposes: bool
    made_by: MadeBy
    names_source: bool = False
    is_outside: bool = False
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The client, and perhaps project and documents, that a call is about: its tools reach nothing else."""

    client_id: int
    project_id: int | None = None
    document_ids: Collection[int] = ()


CHAT = Tier(name="chat", waiting_kinds=WAITING_KINDS, only_proposes=False, made_by=MadeBy.CHAT)
PIPELINE = Tier(
    name="pipeline",
    waiting_kinds=frozenset(),
    only_proposes=True,
    made_by=MadeBy.PIPELINE,
    names_source=True,
)
PROGRAM = Tier(
    name="program", waiting_kinds=frozenset(), only_proposes=True, made_by=MadeBy.PROGRAM, is_outside=True
)


def program_tier(name: str) -> Tier:
    """Return the tier of calls by the program of that name."""
    return replace(PROGRAM, program=name)
