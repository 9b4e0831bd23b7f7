"""What was said after another answer since the last import is brought, whatever order exports come in."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.legacy.newer import DELETED
from coaching.models import Import
from sessions_app.models import Message, Session
from sessions_app.organising import delete_session
from tests.jobs.conftest import empty_queue
from tests.legacy.exports import chatgpt_node, claude_message
from tests.legacy.real_exports import ROOT, claude, tree, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo
from tests.legacy.test_whole_exports import NOTHING_NEW, made
from tests.legacy.whole import missing_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SAID = (
    ("q1", "", "user", "What helps against moss?"),
    ("a1", "q1", "assistant", "More light."),
    ("q2", "a1", "user", "And in the shade?"),
    ("a2", "q2", "assistant", "Less water."),
    ("s1", "q1", "assistant", "Let me think about moss."),
    ("s2", "s1", "assistant", "A rake, in April."),
    ("q3", "s2", "user", "How deep?"),
    ("a3", "q3", "assistant", "A thumb deep."),
    ("q4", "a2", "user", "How little?"),
    ("a4", "q4", "assistant", "Once a week."),
    ("q5", "a3", "user", "How often?"),
    ("a5", "q5", "assistant", "Twice."),
)
EXPORTS = ((2, "a1"), (4, "a2"), (8, "a3"), (10, "a4"), (12, "a5"))
"""How many messages there are, and the last one that is shown."""
FEW = ((0, 2), (1, 2, 3), (2, 1, 3), (4, 3, 0), (0, 4, 1))


def chatgpt_told(count: int, shown: str) -> dict[str, Any]:
    nodes = [
        chatgpt_node(key, parent or "root", role, text, minute=minute)
        for minute, (key, parent, role, text) in enumerate(SAID[:count])
    ]
    return tree("c-moss", "Moss", shown, chatgpt_node("root", None), *nodes)


def claude_told(count: int, shown: str) -> dict[str, Any]:
    said = [
        claude_message(key, "human" if role == "user" else role, text, parent=parent or ROOT, minute=minute)
        for minute, (key, parent, role, text) in enumerate(SAID[:count])
    ]
    return claude("c-moss", "Moss", *said, current_leaf_message_uuid=shown)


MAKERS: Mapping[str, Callable[[int, str], dict[str, Any]]] = {"chatgpt": chatgpt_told, "claude": claude_told}


def export(tmp_path: Path, maker: str, number: int) -> Path:
    told = MAKERS[maker](*EXPORTS[number])
    path = tmp_path / f"{number}.zip"
    path.write_bytes(zipped({"conversations.json": json.dumps([told]).encode()}))
    return path


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("order", FEW)
def test_exports_that_show_different_branches_are_whole_together_and_brought_once(
    maker: str, order: tuple[int, ...], tmp_path: Path, user: User
) -> None:
    empty_queue()
    paths = [export(tmp_path, maker, number) for number in order]
    for path in paths:
        predicted = run_import(path, user, "--dry-run")
        assert run_import(path, user) == predicted
        assert predicted["problems"] == []
    whole = made(user)
    for path in paths:
        assert missing_of(path.read_bytes(), user) == []
        again = run_import(path, user)
        assert {key: again[key] for key in NOTHING_NEW} == dict.fromkeys(NOTHING_NEW, 0)
        assert again["skipped"] == 1
    assert made(user) == whole
    for row in Import.of(user.pk).order_by("-pk"):
        assert undo(user, row).kept == []
    assert not any(made(user).values())


def test_a_branch_that_its_person_deleted_is_not_brought_again(tmp_path: Path, user: User) -> None:
    empty_queue()
    run_import(export(tmp_path, "chatgpt", 1), user)
    run_import(export(tmp_path, "chatgpt", 2), user)
    branch = Session.of(user.pk).get(metadata__imported_id="c-moss/q3")
    delete_session(user_id=user.pk, session_id=branch.pk)
    counts = run_import(export(tmp_path, "chatgpt", 2), user)
    assert (counts["branches"], [each["text"] for each in counts["problems"]]) == (0, [DELETED])


def test_what_follows_a_branch_that_is_shown_now_continues_it(tmp_path: Path, user: User) -> None:
    empty_queue()
    for number in (1, 2, 4):
        counts = run_import(export(tmp_path, "chatgpt", number), user)
    assert (counts["continued"], counts["messages"], counts["branches"]) == (1, 4, 1)
    branch = Session.of(user.pk).get(metadata__imported_id="c-moss/q3")
    said = Message.within(branch).order_by("number").values_list("content", flat=True)
    assert list(said) == ["How deep?", "A thumb deep.", "How often?", "Twice."]
