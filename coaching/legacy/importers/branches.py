"""Divides a conversation that is a tree: the branch that was shown, other answers, and other branches.

Asking again makes another answer to the same message. A question that was edited, and whatever followed
another answer, is a branch: a conversation of its own, without the messages that it shares. Each message is
kept once.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise, takewhile

from coaching.legacy.importers.things import MAX_ID_CHARACTERS, FoundMessage

MAX_ANSWERS = 20
"""Of other answers to a message."""
MAX_BRANCHES = 50
"""Of a conversation; messages of more are only named."""
BREAK = "\n\n"

Said = Callable[[str], FoundMessage | None]
"""Reads the message of a node, None where it has no words. Called once for each, its parent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A conversation's nodes by their parents, in their order; `shown` is the branch, from its root."""

    parents: Mapping[str, str | None]
    shown: Sequence[str]
    written_at: Callable[[str], datetime]


@dataclass(slots=True, kw_only=True)
class Branch:
    """Messages in order, and other `answers` to some of them."""

    messages: list[FoundMessage] = field(default_factory=list)
    answers: list[FoundMessage] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Divided:
    """A tree's branches, by the first message of each but the main one; `left_ids` are without a place.

    `nodes` are those that were read, in order; `joined` says in which message others stand that belong to one
    answer.
    """

    main: Branch = field(default_factory=Branch)
    others: dict[str, Branch] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    joined: dict[str, str] = field(default_factory=dict)
    left_ids: set[str] = field(default_factory=set)

    @property
    def left(self) -> int:
        return len(self.left_ids)

    @property
    def taken_ids(self) -> Collection[str]:
        """The ids of messages that have a place."""
        branches = [self.main, *self.others.values()]
        said = {each.imported_id for branch in branches for each in (*branch.messages, *branch.answers)}
        return said | self.joined.keys()


def divide(tree: Tree, said: Said) -> Divided:
    """Read each node once: first those that were shown, then the newest leaf's, and so on."""
    division = _Division(tree, said)
    division.take_shown([*tree.shown, *_below(tree)])
    parents = set(tree.parents.values())
    leaves = [key for key in tree.parents if key not in parents and key not in division.last]
    for leaf in sorted(leaves, key=tree.written_at, reverse=True):
        division.take(division.path_to(leaf))
    circling = [key for key in tree.parents if key not in division.last]
    division.made.left_ids.update(message.imported_id for key in circling if (message := said(key)))
    return division.made


def _below(tree: Tree) -> Sequence[str]:
    """Return the newest nodes below the last that was shown, which mostly has none."""
    newest: dict[str | None, str] = {}
    for key in sorted(tree.parents, key=tree.written_at):
        newest[tree.parents[key]] = key
    path = dict.fromkeys(tree.shown)
    following = newest.get(tree.shown[-1]) if tree.shown else None
    while following is not None and following not in path:
        path[following] = None
        following = newest.get(following)
    return [*path][len(tree.shown) :]


def branch_id(conversation: str, first: str) -> str:
    """Return the id of a branch, which stays the same when it grows."""
    whole = f"{conversation}/{first}"
    return whole if len(whole) <= MAX_ID_CHARACTERS else hashlib.sha256(whole.encode()).hexdigest()


class _Division:
    def __init__(self, tree: Tree, said: Said) -> None:
        self.made = Divided()
        self.last: dict[str, FoundMessage | None] = {}
        """The last message at each node or before it."""
        self._parents, self._said = tree.parents, said
        self._owners: dict[str, Branch] = {}
        """The branches of the messages that have an answer."""
        self._counts: dict[str, int] = {}

    def path_to(self, leaf: str) -> Sequence[str]:
        """Return the nodes to a leaf that weren't read yet."""
        path: dict[str, None] = {}
        key: str | None = leaf
        while key is not None and key in self._parents and key not in self.last and key not in path:
            path[key] = None
            key = self._parents[key]
        return [*path][::-1]

    def take_shown(self, path: Sequence[str]) -> None:
        self._add(self.made.main, list(self._read(path, None)))

    def take(self, path: Sequence[str]) -> None:
        """Read the nodes of a path, and give its messages their places."""
        before = self.last.get(self._parents[path[0]] or "")
        messages = list(self._read(path, before))
        answers = [*takewhile(lambda message: message.role == "assistant", messages)]
        owner = self._owners.get(before.imported_id) if before and before.role == "user" else None
        if before is not None and owner is not None and answers:
            self._add_answer(owner, before.imported_id, answers)
            messages = messages[len(answers) :]
        if messages:
            self._add_branch(messages)

    def _read(self, path: Sequence[str], before: FoundMessage | None) -> Iterator[FoundMessage]:
        for key in path:
            message = self._said(key)
            self.made.nodes.append(key)
            before = self.last[key] = message or before
            if message is not None:
                yield message

    def _add(self, branch: Branch, messages: Sequence[FoundMessage]) -> None:
        branch.messages += messages
        for asked, answer in pairwise(messages):
            if (asked.role, answer.role) == ("user", "assistant"):
                self._owners[asked.imported_id] = branch

    def _add_answer(self, owner: Branch, asked: str, said: Sequence[FoundMessage]) -> None:
        """Add an answer of one message or several, which are joined."""
        self._counts[asked] = self._counts.get(asked, 0) + 1
        if self._counts[asked] > MAX_ANSWERS:
            self.made.left_ids.update(message.imported_id for message in said)
            return
        self.made.joined |= {message.imported_id: said[0].imported_id for message in said}
        text = BREAK.join(message.text for message in said)
        shorter = _joined_shorter(said, text)
        owner.answers.append(replace(said[0], text=text, answers_to=asked, shorter=shorter))

    def _add_branch(self, messages: Sequence[FoundMessage]) -> None:
        if len(self.made.others) >= MAX_BRANCHES:
            self.made.left_ids.update(message.imported_id for message in messages)
            return
        branch = self.made.others[messages[0].imported_id] = Branch()
        self._add(branch, messages)


def _joined_shorter(said: Sequence[FoundMessage], text: str) -> tuple[int, str] | None:
    """Return how earlier versions joined messages whose whole text is this; None if it was the same."""
    shorter = BREAK.join(
        each.text if each.shorter is None else each.text[: each.shorter[0]] + each.shorter[1] for each in said
    )
    if shorter == text:
        return None
    kept = 0
    for each in said:
        if each.shorter is not None:
            kept += each.shorter[0]
            break
        kept += len(each.text) + len(BREAK)
    return kept, shorter[kept:]
