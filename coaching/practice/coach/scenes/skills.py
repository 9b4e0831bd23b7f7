"""Loading an approach, without a word about it: once in an arc, and only where a tool for it is offered."""

from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.story import skill_sections
from coaching.practice.script import Reply, ToolUse


def load_quietly(arc: ArcTalk, name: str) -> Reply | None:
    """Ask for a skill's text, unless it is there or was asked for already; None then."""
    asked = any(
        call.outcome.name == "load_skill" and call.outcome.input.get("name") == name for call in arc.calls
    )
    is_there = any(name in skill_sections(message) for message in arc.conversation.messages)
    if asked or is_there or "load_skill" not in arc.conversation.tools:
        return None
    return Reply.of(ToolUse("load_skill", {"name": name}))
