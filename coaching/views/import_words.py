"""What imports have made and left behind, counted in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

SHOWN_NAMES = 25
"""Of what was left behind, of each kind; the command names more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftGroup:
    """What an import left behind of one kind; `more` aren't named."""

    title: str
    named: Sequence[Mapping[str, Any]]
    more: int


def left_groups(left: Mapping[str, Mapping[str, Any]]) -> Sequence[LeftGroup]:
    """Return what was left behind; unknown fields are last, but structural ones are listed as problems."""
    counts = {kind: each["count"] for kind, each in left.items()}
    titles = (
        ("file", ngettext("{count} attached file", "{count} attached files", counts.get("file", 0))),
        ("picture", ngettext("{count} picture", "{count} pictures", counts.get("picture", 0))),
        ("voice", ngettext("{count} recording", "{count} recordings", counts.get("voice", 0))),
        (
            "branch",
            ngettext(
                "{count} message from another branch",
                "{count} messages from other branches",
                counts.get("branch", 0),
            ),
        ),
        (
            "message",
            ngettext(
                "{count} message that was hidden or had no ID",
                "{count} messages that were hidden or had no ID",
                counts.get("message", 0),
            ),
        ),
        (
            "summary",
            ngettext(
                "{count} summary of a conversation",
                "{count} summaries of conversations",
                counts.get("summary", 0),
            ),
        ),
        ("instructions", gettext("What the other app knew about you")),
        ("member", ngettext("{count} file in the ZIP", "{count} files in the ZIP", counts.get("member", 0))),
        ("tool", ngettext("{count} use of a tool", "{count} uses of tools", counts.get("tool", 0))),
        (
            "source",
            ngettext(
                "{count} source that an answer cites",
                "{count} sources that answers cite",
                counts.get("source", 0),
            ),
        ),
        (
            "result",
            ngettext(
                "{count} page that a search found",
                "{count} pages that searches found",
                counts.get("result", 0),
            ),
        ),
        (
            "thinking",
            ngettext(
                "{count} reasoning step",
                "{count} reasoning steps",
                counts.get("thinking", 0),
            ),
        ),
        ("metadata", gettext("Details of messages that Sage doesn’t know")),
    )
    return [
        LeftGroup(
            title=title.format(count=number_format(counts[kind], force_grouping=True)),
            named=left[kind]["named"][:SHOWN_NAMES],
            more=counts[kind] - sum(each["count"] for each in left[kind]["named"][:SHOWN_NAMES]),
        )
        for kind, title in titles
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
