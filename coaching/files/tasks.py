"""Task boxes of a markdown text: finding the one that somebody ticked, and ticking it. Pure.

Boxes are counted as they are shown. What a line means depends on all of markdown, so `views/file_tasks.py`
checks a change against the rendered text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ITEM = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)"
_TASK = re.compile(
    rf"(?P<begin>[ \t>]*{_ITEM}+)(?:\[[ xX]\]|[\u2610\u2611])(?P<words>[ \u00a0].*)",
)
_OPEN = ("[ ]", "\u2610")
_FENCE = re.compile(rf"[ \t>]*{_ITEM}*(?P<mark>`{{3,}}|~{{3,}})(?P<rest>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A line with a box: its place among the lines, and its words."""

    line: int
    words: str
    is_done: bool


def tasks_in(text: str) -> Sequence[Task]:
    """Return the lines with a box, in order, without those in fenced code."""
    found: list[Task] = []
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark["mark"].startswith(fence) and not mark["rest"].strip():
                fence = ""
            continue
        if mark and not (mark["mark"].startswith("`") and "`" in mark["rest"]):
            fence = mark["mark"]
        elif task := _TASK.fullmatch(line):
            sign = line[task.end("begin") : task.start("words")]
            found.append(Task(line=number, words=task["words"].strip(), is_done=sign not in _OPEN))
    return found


def with_box(text: str, task: Task, *, is_done: bool) -> str:
    """Return the text with a box ticked or not; nothing else changes."""
    lines = text.split("\n")
    found = _TASK.fullmatch(lines[task.line])
    assert found, "a task is of this text"
    lines[task.line] = f"{found['begin']}[{'x' if is_done else ' '}]{found['words']}"
    return "\n".join(lines)
