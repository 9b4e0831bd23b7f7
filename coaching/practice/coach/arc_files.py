"""The files that an arc writes: markdown made of the user's own words, merged with the existing file.

Every line by the coach is a heading, a quote, a bullet with a bold start, or italic; any other line was
written by somebody else and is kept.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coaching.practice.coach.arc_hearing import one_line
from coaching.practice.coach.listening import sentences_of
from coaching.practice.script import ToolUse

PATHS = {
    "overview": "life-map/_overview.md",
    "life-plan": "life-plan/current.md",
    "weekly-plan": "life-plan/weekly.md",
    "sage-context": "sage/context.md",
    "sage-patterns": "sage/patterns.md",
}
NAMES = {
    "overview": "the overview of your life map",
    "life-plan": "your life plan",
    "weekly-plan": "the plan of your week",
    "sage-context": "what I should remember about you",
    "sage-patterns": "the patterns that we've seen",
    "day-plan": "today's plan",
    "daily-log": "today's log",
    "check-in": "this week's check-in",
}
STILL_OPEN = "*Still open.*"
_FOOT = "*Written down by the practice coach, in your own words.*"
_KEPT_HEADING = "## What stood here before"
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FILE_TAG = re.compile(r"\A\s*<file [^>]*>\n|</file>\s*\Z")
_OWN_LINE = re.compile(r"\s*\Z|#|- “|- \*\*|\*.*\*\Z")
_QUOTE = re.compile(r"^- “(.*)”$", re.MULTILINE)
_MAX_CHARACTERS = 90_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcFile:
    """A file that an arc writes. `sections` are headings with their lines.

    `quotes_under` names the section whose older quotes stay when the file is replaced. Saves before
    `newer_than` (a position in the story) don't count as this file's.
    """

    file_type: str
    title: str
    sections: Sequence[tuple[str, Sequence[str]]]
    file_name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    quotes_under: str = ""
    newer_than: int = 0
    is_kept_if_there: bool = False
    kept: Sequence[str] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Return a key that identifies the file."""
        return (self.file_type, self.file_name)

    @property
    def name(self) -> str:
        """Return the file's name for people."""
        return NAMES.get(self.file_type, f"your page on {self.file_name}")

    @property
    def path(self) -> str:
        """Return the path of the file to replace, empty if the server chooses a date."""
        return (
            f"life-map/{self.file_name}.md" if self.file_type == "domain" else PATHS.get(self.file_type, "")
        )

    def merged_with(self, stored: str) -> "ArcFile":
        """Return the file merged with the stored one; `stored` as `read_file` returns it."""
        body = _FRONTMATTER.sub("", _FILE_TAG.sub("", stored)).strip()
        ours, _, older = body.partition(_KEPT_HEADING)
        if _FOOT not in ours:
            return replace(self, kept=tuple(body.splitlines()))
        strange = [line for line in ours.splitlines() if not _OWN_LINE.match(line)]
        kept = [*strange, *older.strip().splitlines()]
        old_quotes = [f"- “{quote}”" for quote in _QUOTE.findall(ours)] if self.quotes_under else []
        sections = [
            (heading, list(dict.fromkeys([*old_quotes, *lines])) if heading == self.quotes_under else lines)
            for heading, lines in self.sections
        ]
        return replace(self, sections=sections, kept=tuple(kept))

    def as_call(self, *, is_simple: bool = False) -> ToolUse:
        """Return the call that saves the file; `is_simple` is a retry with the fewest attributes."""
        values: dict[str, Any] = {"file_type": self.file_type}
        if self.file_name:
            values["file_name"] = self.file_name
        values["content"] = self._body()[:_MAX_CHARACTERS]
        attributes = {name: value for name, value in self.attributes.items() if value not in ("", None, [])}
        if is_simple:
            attributes.pop("preview_line", None)
        return ToolUse("save_file", {**values, "attributes": attributes} if attributes else values)

    def _body(self) -> str:
        parts = [f"# {self.title}"]
        parts += [f"## {heading}\n\n" + "\n".join(lines or [STILL_OPEN]) for heading, lines in self.sections]
        parts.append(_FOOT)
        if self.kept:
            parts.append(f"{_KEPT_HEADING}\n\n" + "\n".join(self.kept).strip())
        return "\n\n".join(parts) + "\n"


def quotes(*texts: str) -> list[str]:
    """Return the sentences of texts as quoted list items, each once."""
    said = [" ".join(s.split()).lstrip("#>*-+| ") for text in texts for s in sentences_of(text)]
    return [f"- “{words}”" for words in dict.fromkeys(said) if words]


def bold_items(items: Sequence[str]) -> list[str]:
    """Return items as bullets in bold."""
    return [f"- **{one_line(item).replace('*', '')}**" for item in items]


def preview(text: str) -> str:
    """Return a text's first sentence, for `preview_line`."""
    sentences = sentences_of(text)
    return one_line(sentences[0], 140) if sentences else ""
