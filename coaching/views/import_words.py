"""What imports have made and left behind, counted in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

SHOWN_NAMES = 25
"""Of what was left behind, of each kind; the command names more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftGroup:
    """What an import left behind of one kind; `more` aren't named."""

    title: str
    named: Sequence[Mapping[str, Any]]
    more: int


_LEFT_TITLES = {
    "file": ngettext_lazy("{count} attached file", "{count} attached files", "number"),
    "picture": ngettext_lazy("{count} picture", "{count} pictures", "number"),
    "voice": ngettext_lazy("{count} recording", "{count} recordings", "number"),
    "branch": ngettext_lazy(
        "{count} message from another branch", "{count} messages from other branches", "number"
    ),
    "message": ngettext_lazy(
        "{count} message that was hidden or had no ID",
        "{count} messages that were hidden or had no ID",
        "number",
    ),
    "summary": ngettext_lazy(
        "{count} summary of a conversation", "{count} summaries of conversations", "number"
    ),
    "instructions": gettext_lazy("What the other app knew about you"),
    "member": ngettext_lazy("{count} file in the ZIP", "{count} files in the ZIP", "number"),
    "tool": ngettext_lazy("{count} use of a tool", "{count} uses of tools", "number"),
    "source": ngettext_lazy(
        "{count} source that an answer cites", "{count} sources that answers cite", "number"
    ),
    "result": ngettext_lazy(
        "{count} page that a search found", "{count} pages that searches found", "number"
    ),
    "thinking": ngettext_lazy("{count} reasoning step", "{count} reasoning steps", "number"),
    "metadata": gettext_lazy("Details of messages that Sage doesn’t know"),
}
"""By kind, in the order in which they are shown: unknown fields last, but structural ones are problems."""


def left_groups(left: Mapping[str, Mapping[str, Any]]) -> Sequence[LeftGroup]:
    """Return what was left behind."""
    counts = {kind: each["count"] for kind, each in left.items()}
    return [
        LeftGroup(
            title=title.format(count=number_format(counts[kind], force_grouping=True), number=counts[kind]),
            named=left[kind]["named"][:SHOWN_NAMES],
            more=counts[kind] - sum(each["count"] for each in left[kind]["named"][:SHOWN_NAMES]),
        )
        for kind, title in _LEFT_TITLES.items()
        if kind in left
    ]


def made_in_words(counts: Mapping[str, int]) -> Sequence[str]:
    """Return what an import has made, each with its number."""
    names = (
        "sessions", "branches", "continued", "messages", "answers", "completed", "documents", "files",
        "ratings",
    )  # fmt: skip
    sessions, branches, continued, messages, answers, completed, documents, files, ratings = (
        counts.get(key, 0) for key in names
    )
    parts = (
        (sessions, ngettext("{count} conversation", "{count} conversations", sessions)),
        (branches, ngettext("{count} other branch", "{count} other branches", branches)),
        (continued, ngettext("{count} continued conversation", "{count} continued conversations", continued)),
        (messages, ngettext("{count} message", "{count} messages", messages)),
        (answers, ngettext("{count} other answer", "{count} other answers", answers)),
        (completed, ngettext("{count} completed message", "{count} completed messages", completed)),
        (documents, ngettext("{count} document", "{count} documents", documents)),
        (files, ngettext("{count} file", "{count} files", files)),
        (ratings, ngettext("{count} rating", "{count} ratings", ratings)),
    )
    return [text.format(count=number_format(count, force_grouping=True)) for count, text in parts if count]
