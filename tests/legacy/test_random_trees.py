"""Whatever is edited, regenerated and shown between exports: each message is brought once, and undone."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.legacy.importers.chatgpt import ChatGptAdapter
from coaching.legacy.importers.claude import ClaudeAdapter
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.things import Adapter
from coaching.legacy.running import _Run
from coaching.legacy.storing import Target
from coaching.legacy.tally import Tally
from coaching.legacy.undoing import undo_steps
from coaching.models import Import, ImportFormat, ImportState
from sessions_app.models import Message, Session
from tests.legacy.exports import chatgpt_node, claude_message
from tests.legacy.real_exports import ROOT, claude, tree, zipped
from tests.legacy.test_whole_exports import made
from tests.legacy.whole import added_to, missing_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SEEDS = (5, 6, 13)
SNAPSHOTS = 3
Said = Mapping[str, str]
"""Messages by their keys, each with the key of the one before; a question's key begins with a q."""
Maker = Callable[[Said, str], dict[str, Any]]


def chatgpt_told(said: Said, shown: str) -> dict[str, Any]:
    nodes = [
        chatgpt_node(key, parent or "root", role_of(key), f"Words of {key}.", minute=minute)
        for minute, (key, parent) in enumerate(said.items())
    ]
    return tree("c", "Moss", shown, chatgpt_node("root", None), *nodes)


def claude_told(said: Said, shown: str) -> dict[str, Any]:
    messages = [
        claude_message(
            key,
            role_of(key).replace("user", "human"),
            f"Words of {key}.",
            parent=parent or ROOT,
            minute=minute,
        )
        for minute, (key, parent) in enumerate(said.items())
    ]
    return claude("c", "Moss", *messages, current_leaf_message_uuid=shown)


def role_of(key: str) -> str:
    return "user" if key.startswith("q") else "assistant"


MAKERS: Mapping[ImportFormat, tuple[Maker, type[Adapter]]] = {
    ImportFormat.CHATGPT: (chatgpt_told, ChatGptAdapter),
    ImportFormat.CLAUDE: (claude_told, ClaudeAdapter),
}


def taken(user: User, told: dict[str, Any], read_as: ImportFormat, *, is_dry: bool = False) -> Tally:
    """Import a conversation as the reader's process would have sent it."""
    row = None if is_dry else Import(user=user, file_name="export.zip", file_format=read_as)
    if row is not None:
        row.save()
    target = Target(user_id=user.pk, row=row, timezone=ZoneInfo("UTC"), now=timezone.now())
    tally = Tally()
    run = _Run(target, read_as, tally)
    for thing in MAKERS[read_as][1]().read(Item(path=(0,), value=told, line=1)):
        run.has_stored(thing)
    for _ in run.last_steps():
        pass
    Import.of(user.pk).filter(ended_at=None).update(state=ImportState.FINISHED, ended_at=timezone.now())
    return tally


def missing(user: User, told: dict[str, Any]) -> list[str]:
    return missing_of(in_zip(told), user)


def in_zip(told: dict[str, Any]) -> bytes:
    return zipped({"conversations.json": json.dumps([told]).encode()})


def undo(row: Import) -> None:
    for _ in undo_steps(row):
        pass
    assert row.kept == []


def grown(chance: random.Random) -> Sequence[tuple[Said, str]]:
    """Return what a conversation was after some of its steps, with the message that is shown."""
    said: dict[str, str] = {}
    snapshots = []

    def add(letter: str, parent: str) -> str:
        key = f"{letter}{len(said)}"
        said[key] = parent
        return key

    def answered(asked: str) -> str:
        shown = add("a", asked) if chance.random() < 0.9 else asked
        while shown != asked and chance.random() < 0.25:
            shown = add("a", shown)
        return shown

    shown = answered(add("q", ""))
    for _ in range(chance.randint(4, 7)):
        asked = chance.choice([key for key in said if key.startswith("q")])
        match chance.choice(("ask", "ask", "regenerate", "edit", "show")):
            case "ask":
                shown = answered(add("q", shown))
            case "regenerate":
                shown = answered(asked)
            case "edit":
                shown = answered(add("q", said[asked]))
            case _:
                shown = chance.choice(list(said))
        snapshots.append((dict(said), shown))
    last = snapshots.pop()
    return [*chance.sample(snapshots, min(len(snapshots), SNAPSHOTS - 1)), last]


@pytest.mark.parametrize("read_as", MAKERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_exports_of_a_random_tree_in_any_order_are_whole_and_undone_in_any_order(
    seed: int, read_as: ImportFormat, user: User
) -> None:
    chance = random.Random(seed)
    exports = [MAKERS[read_as][0](*snapshot) for snapshot in grown(chance)]
    chance.shuffle(exports)
    for told in exports:
        predicted = taken(user, told, read_as, is_dry=True)
        tally = taken(user, told, read_as)
        assert (tally.counts(), tally.problems) == (predicted.counts(), [])
    whole = made(user)
    for told in exports:
        assert missing(user, told) == []
        again = taken(user, told, read_as)
        assert {key: count for key, count in again.counts().items() if count} == {"skipped": 1}
    assert made(user) == whole
    assert added_to(map(in_zip, exports), user) == []
    rows = list(Import.of(user.pk))
    chance.shuffle(rows)
    undo(rows.pop())
    taken(user, exports[-1], read_as)
    assert missing(user, exports[-1]) == []
    rows = list(Import.of(user.pk).exclude(state=ImportState.UNDONE))
    chance.shuffle(rows)
    for row in rows:
        undo(row)
    assert not any(made(user).values())


def simple(shown: str, **said: str) -> dict[str, Any]:
    return chatgpt_told(said, shown)


def shown_by_session(user: User) -> dict[str, list[str]]:
    return {session.metadata["imported_id"]: list(shown_in(session)) for session in Session.of(user.pk)}


def shown_in(session: Session) -> Iterator[str]:
    for row in Message.within(session).filter(turn__is_withdrawn=False).order_by("number"):
        yield row.metadata["imported_id"]


def test_an_edited_first_question_is_another_branch(user: User) -> None:
    taken(user, simple("a1", q1="", a1="q1"), ImportFormat.CHATGPT)
    told = simple("a2", q1="", a1="q1", q2="", a2="q2")
    taken(user, told, ImportFormat.CHATGPT)
    assert shown_by_session(user) == {"c": ["q1", "a1"], "c/q2": ["q2", "a2"]}
    assert missing(user, told) == []


def test_answers_to_a_question_that_another_session_has_are_branches(user: User) -> None:
    taken(user, simple("q2", q1="", a1="q1", q2="a1"), ImportFormat.CHATGPT)
    told = simple("a3", q1="", a1="q1", q2="a1", a2="q2", a2b="q2", q3="a1", a3="q3")
    taken(user, told, ImportFormat.CHATGPT)
    assert missing(user, told) == []
    assert sorted(map(len, shown_by_session(user).values())) == [1, 1, 2, 3]


def test_a_branch_is_whole_again_after_an_undo_of_the_import_that_had_its_beginning(user: User) -> None:
    taken(user, simple("a3", q1="", a1="q1", q3="a1", a3="q3"), ImportFormat.CHATGPT)
    told = simple("a4", q1="", a1="q1", q3="a1", a3="q3", q5="a3", a5="q5", q4="a1", a4="q4")
    taken(user, told, ImportFormat.CHATGPT)
    first = Import.of(user.pk).order_by("pk").first()
    assert first is not None
    undo(first)
    tally = taken(user, told, ImportFormat.CHATGPT)
    assert tally.problems == []
    assert missing(user, told) == []
    assert shown_by_session(user) == {
        "c": ["q1", "a1"],
        "c/q4": ["q4", "a4"],
        "c/q3": ["q3", "a3"],
        "c/q5": ["q5", "a5"],
    }
