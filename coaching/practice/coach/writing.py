"""The files that the coach writes: markdown of the user's own words.

It quotes rather than interprets, because a script understands nothing. The server adds the frontmatter, and
there is no date, so equal words give equal files. Existing content is kept: quotes are merged, other people's
text stays whole.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coaching.practice.api.prefix import Json
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import domains_in, salient_words, sentences_of
from coaching.practice.coach.quoting import quotable_passages, sort_by_domain
from coaching.practice.script import ToolUse

_LABELS = {"sage-context": "what matters to you", "overview": "overview", "capture": "note"}
_PATHS = {"sage-context": "sage/context.md", "overview": "life-map/_overview.md"}
_FOOT = "*Written down by the practice coach, in your own words.*"
_KEPT_HEADING = "## What stood here before"
_QUOTE = re.compile(r"^- “(.*)”$", re.MULTILINE)
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FILE_TAG = re.compile(r"\A\s*<file [^>]*>\n|</file>\s*\Z")
_MAX_CHARACTERS = 90_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A file to write.

    `words` are the user's sentences, `kept` is other text that stays in the file, `path` is the file's path
    if it is known beforehand.
    """

    file_type: str
    words: tuple[str, ...]
    file_name: str = ""
    kept: str = ""

    @property
    def label(self) -> str:
        """Return the draft's name for use in a sentence."""
        return _LABELS.get(self.file_type, self.file_name)

    @property
    def path(self) -> str:
        """Return the path of the file to replace; empty for one that is always new."""
        if self.file_type == "domain":
            return f"life-map/{self.file_name}.md"
        return _PATHS.get(self.file_type, "")

    def merged_with(self, stored: str) -> "Draft":
        """Return the draft merged with the stored file; `stored` as `read_file` returns it."""
        body = _FRONTMATTER.sub("", _FILE_TAG.sub("", stored)).strip()
        ours, _, kept = body.partition(_KEPT_HEADING)
        if _FOOT in ours:
            words = dict.fromkeys([*_QUOTE.findall(ours), *self.words])
            return replace(self, words=tuple(words), kept=kept.strip())
        return replace(self, kept=body)

    def as_call(self, conversation: Conversation) -> ToolUse:
        """Return the call that saves the draft."""
        values: dict[str, Any] = {"file_type": self.file_type}
        if self.file_name:
            values["file_name"] = self.file_name
        content = _write_body(self, conversation)
        if self.kept:
            content += f"\n{_KEPT_HEADING}\n\n{self.kept}\n"
        return ToolUse("save_file", {**values, "content": content[:_MAX_CHARACTERS]})


def draft_files(conversation: Conversation, request: str, tool: Json) -> Sequence[Draft]:
    """Draft what should be saved: one file per life domain, and one for the rest.

    `request` is the user's newest message; if it names domains, only those are drafted. Only types in the
    tool's schema are drafted. Empty if the user has said nothing to write down yet.
    """
    passages = quotable_passages(conversation, request)
    words = [sentence for passage in passages for sentence in passage]
    allowed = allowed_types(tool)
    if not words:
        return []
    if "overview" in request.lower() and _is_allowed("overview", allowed):
        return [Draft(file_type="overview", words=tuple(words))]
    if _is_capture(request) and _is_allowed("capture", allowed):
        return [Draft(file_type="capture", words=tuple(words[-5:]))]
    drafts: list[Draft] = []
    if _is_allowed("domain", allowed):
        found, words = sort_by_domain(passages)
        named = [name for name in domains_in(request) if name in found]
        drafts = [
            Draft(file_type="domain", file_name=name, words=tuple(found[name])) for name in named or found
        ]
        if named:
            return drafts
    if words and _is_allowed("sage-context", allowed):
        drafts.append(Draft(file_type="sage-context", words=tuple(words)))
    if not drafts and _is_allowed("capture", allowed):
        drafts.append(Draft(file_type="capture", words=tuple(words[-5:])))
    return drafts


def allowed_types(tool: Json) -> frozenset[str] | None:
    """Return the `file_type` values in the tool's schema, or None for any."""
    schema = tool.get("input_schema") or {}
    field = (schema.get("properties") or {}).get("file_type") or {}
    reference = str(field.get("$ref", "")).rsplit("/", 1)[-1]
    if reference:
        field = (schema.get("$defs") or {}).get(reference) or {}
    values = field.get("enum")
    return frozenset(values) if isinstance(values, list) else None


def _is_allowed(file_type: str, allowed: frozenset[str] | None) -> bool:
    return allowed is None or file_type in allowed


def _is_capture(request: str) -> bool:
    return any(word in request.lower() for word in ("capture", "jot", "note "))


def _write_body(draft: Draft, conversation: Conversation) -> str:
    match draft.file_type:
        case "domain":
            return _domain_body(draft)
        case "overview":
            return _overview_body(draft)
        case "sage-context":
            return _context_body(draft, conversation)
        case _:
            return f"{_quotes(draft.words)}\n\n{_FOOT}\n"


def _domain_body(draft: Draft) -> str:
    return (
        f"# {draft.file_name.title()}\n\n"
        f"## Where it stands, as you told it\n\n{_quotes(draft.words)}\n\n"
        f"## Words that stand out\n\n{_standing_out(draft.words)}\n\n"
        f"## Next small step\n\nStill open. We can find one together.\n\n{_FOOT}\n"
    )


def _overview_body(draft: Draft) -> str:
    found, others = sort_by_domain([[word] for word in draft.words])
    sections = [f"## {name.title()}\n\n{_quotes(found[name])}\n" for name in found]
    if others:
        sections.append(f"## Beside that\n\n{_quotes(others)}\n")
    return "# Where things stand\n\n" + "\n".join(sections) + f"\n{_FOOT}\n"


def _context_body(draft: Draft, conversation: Conversation) -> str:
    question = _last_question(conversation)
    where = f"I had just asked: “{question}”" if question else "At the beginning."
    return (
        f"# What matters now\n\n{_quotes(draft.words)}\n\n"
        f"## Words that stand out\n\n{_standing_out(draft.words)}\n\n"
        f"## Where we stopped\n\n{where}\n\n{_FOOT}\n"
    )


def _quotes(words: Sequence[str]) -> str:
    return "\n".join(f"- “{word}”" for word in words)


def _standing_out(words: Sequence[str]) -> str:
    salient = salient_words(" ".join(f"{word}." for word in words), 5)
    return ", ".join(f"**{word}**" for word in salient) or "Nothing yet."


def _last_question(conversation: Conversation) -> str:
    """Return the last question that the coach asked, ignoring offers to save."""
    for text in reversed(conversation.coach_texts):
        questions = [s for s in sentences_of(text) if s.endswith("?")]
        asked = [q for q in questions if "write" not in q.lower() and "Shall I" not in q]
        if asked:
            return " ".join(asked[-1].split())
    return ""
