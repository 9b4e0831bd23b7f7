"""The files that the coach writes: markdown out of the user's own words.

It quotes rather than interprets, since a script has understood nothing. The server adds the
frontmatter; there is none here, and no date, so that the same words give the same file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coaching.practice.conversation import Conversation
from coaching.practice.listening import DOMAINS, domains_in, is_substance, salient_words, sentences_of
from coaching.practice.prefix import Json
from coaching.practice.script import ToolUse

_TITLES = {
    "career": "Career",
    "relationships": "Relationships",
    "health": "Health",
    "finances": "Finances",
    "learning": "Learning",
    "creativity": "Creativity",
    "play": "Play",
    "meaning": "Meaning",
}
_FOOT = "*Written down by the practice coach, in your own words.*"
_MAX_PASSAGES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One file to be written. `label` names it in a sentence."""

    file_type: str
    file_name: str
    content: str
    label: str

    def as_call(self) -> ToolUse:
        """Return the call that saves the draft."""
        values: dict[str, Any] = {"file_type": self.file_type}
        if self.file_name:
            values["file_name"] = self.file_name
        return ToolUse("save_file", {**values, "content": self.content})


def draft_files(conversation: Conversation, request: str, tool: Json) -> Sequence[Draft]:
    """Draft what should be saved: one file per life domain, or one for what fits none.

    `request` holds the user's newest words; domains that it names come alone. Only types that the
    tool's own schema allows are drafted. Empty when the user has said nothing to write down yet.
    """
    passages = _quotable(conversation, request)
    words = [sentence for passage in passages for sentence in passage]
    allowed = allowed_types(tool)
    if not words:
        return []
    if "overview" in request.lower() and _is_allowed("overview", allowed):
        return [_draft_overview(passages)]
    if _is_capture(request) and _is_allowed("capture", allowed):
        return [_draft_capture(words)]
    drafts: list[Draft] = []
    if _is_allowed("domain", allowed):
        found, words = _sort_by_domain(passages)
        named = [name for name in domains_in(request) if name in found]
        drafts = [_draft_domain(name, found[name]) for name in named or found]
        if named:
            return drafts
    if words and _is_allowed("sage-context", allowed):
        drafts.append(_draft_context(words, conversation))
    if not drafts and _is_allowed("capture", allowed):
        drafts.append(_draft_capture(words))
    return drafts


def allowed_types(tool: Json) -> frozenset[str] | None:
    """Return the values that the tool's schema allows for `file_type`, or None for any."""
    schema = tool.get("input_schema") or {}
    field = (schema.get("properties") or {}).get("file_type") or {}
    reference = str(field.get("$ref", "")).rsplit("/", 1)[-1]
    if reference:
        field = (schema.get("$defs") or {}).get(reference) or {}
    values = field.get("enum")
    return frozenset(values) if isinstance(values, list) else None


def has_words_to_save(conversation: Conversation) -> bool:
    """Tell whether the user has said something of substance since the last save."""
    fresh = conversation.user_texts[_saved_up_to(conversation) :]
    return any(map(is_substance, fresh))


def count_fresh_words(conversation: Conversation) -> int:
    """Count the messages of substance since the last save."""
    return sum(map(is_substance, conversation.user_texts[_saved_up_to(conversation) :]))


def _saved_up_to(conversation: Conversation) -> int:
    return conversation.save_indexes[-1] if conversation.save_indexes else 0


def _quotable(conversation: Conversation, request: str) -> Sequence[Sequence[str]]:
    """Return the user's sentences that say something, message by message, each once.

    The whole conversation, not only what is new: a file is replaced as a whole.
    """
    seen: set[str] = set()
    passages: list[list[str]] = []
    for text in conversation.user_texts:
        told: Sequence[str] = []
        if is_substance(text):
            told = [_plain(sentence) for sentence in sentences_of(text)]
        elif text == request:
            told = _told_beside_request(text)
        passages.append([sentence for sentence in dict.fromkeys(told) if sentence not in seen])
        seen.update(told)
    return [passage for passage in passages if passage][-_MAX_PASSAGES:]


def _told_beside_request(text: str) -> Sequence[str]:
    """Return what a request to save tells by itself: "Save that I want to sleep more"."""
    told = []
    for sentence in sentences_of(text):
        _, mark, rest = sentence.partition(":")
        candidate = rest.strip() if mark else sentence
        if is_substance(candidate):
            told.append(_plain(candidate))
    return told


def _plain(sentence: str) -> str:
    """Return a sentence as a list item may hold it: one line, no leading markup."""
    text = " ".join(sentence.split()).lstrip("#>*-+| ")
    return text[:1].upper() + text[1:]


def _sort_by_domain(
    passages: Sequence[Sequence[str]],
) -> tuple[dict[str, list[str]], list[str]]:
    """Sort sentences into life domains; the second value is what fits none.

    A sentence that names no domain goes with the one that was being spoken of in its message.
    """
    found: dict[str, list[str]] = {}
    others: list[str] = []
    for passage in passages:
        current = [name for sentence in passage for name in domains_in(sentence)][:1]
        for sentence in passage:
            current = list(domains_in(sentence)) or current[-1:]
            for name in current:
                found.setdefault(name, []).append(sentence)
            if not current:
                others.append(sentence)
    return {name: found[name] for name in DOMAINS if name in found}, others


def _is_allowed(file_type: str, allowed: frozenset[str] | None) -> bool:
    return allowed is None or file_type in allowed


def _is_capture(request: str) -> bool:
    return any(word in request.lower() for word in ("capture", "jot", "note "))


def _quotes(words: Sequence[str]) -> str:
    return "\n".join(f"- “{word}”" for word in words)


def _standing_out(words: Sequence[str]) -> str:
    salient = salient_words(" ".join(f"{word}." for word in words), 5)
    return ", ".join(f"**{word}**" for word in salient) or "Nothing yet."


def _draft_domain(name: str, words: Sequence[str]) -> Draft:
    content = (
        f"# {_TITLES[name]}\n\n"
        f"## Where it stands, as you told it\n\n{_quotes(words)}\n\n"
        f"## Words that stand out\n\n{_standing_out(words)}\n\n"
        f"## Next small step\n\nStill open. We can find one together.\n\n{_FOOT}\n"
    )
    return Draft(file_type="domain", file_name=name, content=content, label=_TITLES[name].lower())


def _draft_overview(passages: Sequence[Sequence[str]]) -> Draft:
    found, others = _sort_by_domain(passages)
    sections = [f"## {_TITLES[name]}\n\n{_quotes(found[name])}\n" for name in found]
    if others:
        sections.append(f"## Beside that\n\n{_quotes(others)}\n")
    content = "# Where things stand\n\n" + "\n".join(sections) + f"\n{_FOOT}\n"
    return Draft(file_type="overview", file_name="", content=content, label="overview")


def _draft_capture(words: Sequence[str]) -> Draft:
    content = f"{_quotes(words[-5:])}\n\n{_FOOT}\n"
    return Draft(file_type="capture", file_name="", content=content, label="note")


def _draft_context(words: Sequence[str], conversation: Conversation) -> Draft:
    question = _last_question(conversation)
    where = f"I had just asked: “{question}”" if question else "At the beginning."
    content = (
        f"# What matters now\n\n{_quotes(words)}\n\n"
        f"## Words that stand out\n\n{_standing_out(words)}\n\n"
        f"## Where we stopped\n\n{where}\n\n{_FOOT}\n"
    )
    return Draft(file_type="sage-context", file_name="", content=content, label="what matters to you")


def _last_question(conversation: Conversation) -> str:
    """Return the last question that the coach asked, its offers to save aside."""
    for text in reversed(conversation.coach_texts):
        questions = [s for s in sentences_of(text) if s.endswith("?")]
        asked = [q for q in questions if "write" not in q.lower() and "Shall I" not in q]
        if asked:
            return " ".join(asked[-1].split())
    return ""
