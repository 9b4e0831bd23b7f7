"""Titles, projects and other answers that exports tell differently, and names of what stays behind."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.legacy.completing import NOT_COMPLETED
from coaching.legacy.importers.chatgpt import ChatGptAdapter
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.newer import EDITED
from coaching.legacy.tally import WITHHELD, Tally
from coaching.models import Import, ImportFormat
from sessions_app.import_links import are_deleted
from sessions_app.import_metadata import CHOSEN_KEY
from sessions_app.models import Message, Session
from tests.legacy.exports import chatgpt_node
from tests.legacy.real_exports import picture, tree
from tests.legacy.test_random_trees import missing, shown_by_session, simple, taken, undo

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

CHATGPT = ImportFormat.CHATGPT
DRAWN = "Here is your cat."


def test_titles_and_projects_of_several_exports_are_kept_and_taken_back(user: User) -> None:
    told = simple("a1", q1="", a1="q1") | {"title": "New chat"}
    exports = [told, told | {"title": "Cats", "gizmo_id": "g-1"}, told | {"title": "Dogs", "gizmo_id": "g-2"}]
    for each in (*exports, *exports):
        taken(user, each, CHATGPT)
    origin = Session.of(user.pk).get().metadata["origin"]
    assert (origin["title"], origin["project"]) == ("Cats · Dogs", "g-1, g-2")
    assert [missing(user, each) for each in exports] == [[], [], []]
    undo(Import.of(user.pk).order_by("pk")[2])
    origin = Session.of(user.pk).get().metadata["origin"]
    assert (origin["title"], origin["project"]) == ("Cats", "g-1")


def test_models_alone_are_no_problem_of_a_conversation_that_went_on_here(user: User) -> None:
    told = simple("a1", q1="", a1="q1")
    taken(user, told, CHATGPT)
    session = Session.of(user.pk).get()
    session.metadata[CHOSEN_KEY] = True
    session.save()
    assert taken(user, told | {"default_model_slug": "gpt-5"}, CHATGPT).problems == []
    problems = taken(user, told | {"gizmo_id": "g-1"}, CHATGPT).problems
    assert [each.text for each in problems] == [NOT_COMPLETED]


def drawing(shown: str, *more: Any) -> dict[str, Any]:
    pictured = picture("file-service://file-p10001", dalle={"prompt": "A cat in the rain."})
    tool = {"role": "tool", "name": "dalle.text2im", "metadata": {}}
    return tree(
        "c",
        "Draw",
        shown,
        chatgpt_node("root", None),
        chatgpt_node("q1", "root", "user", "Draw a cat.", minute=1),
        chatgpt_node("a1", "q1", "assistant", "I can’t.", minute=2),
        chatgpt_node("p1", "q1", "tool", pictured, kind="multimodal_text", author=tool, minute=3),
        chatgpt_node("t1", "p1", "assistant", DRAWN, minute=4),
        *more,
    )


def answer(user: User) -> Message:
    return Message.of(user.pk).get(metadata__imported_id="p1")


@pytest.fixture
def old_answer(user: User) -> Message:
    """Another answer as an earlier version stored it: without the words that its picture was drawn by."""
    taken(user, drawing("a1"), CHATGPT)
    Message.of(user.pk).filter(pk=answer(user).pk).update(content=f"(An image)\n\n{DRAWN}")
    return answer(user)


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_another_answer_is_completed_and_undone_like_a_message(
    order: tuple[int, int], old_answer: Message, user: User
) -> None:
    tally = taken(user, drawing("a1"), CHATGPT)
    assert (tally.completed, answer(user).content) == (1, f"(An image)\n\nA cat in the rain.\n\n{DRAWN}")
    rows = list(Import.of(user.pk).order_by("pk"))
    undo(rows[order[0]])
    if order[0]:
        assert answer(user).content == old_answer.content
    undo(rows[order[1]])
    assert not Session.of(user.pk).exists()


def test_an_answer_that_an_earlier_version_joined_is_not_stored_again_when_it_is_shown(
    old_answer: Message, user: User
) -> None:
    asked = chatgpt_node("q9", "t1", "user", "Thanks.", minute=5)
    tally = taken(user, drawing("q9", asked), CHATGPT)
    assert tally.problems == []
    assert shown_by_session(user) == {"c": ["q1", "a1"], "c/q9": ["q9"]}


def test_another_answer_that_has_grown_is_named(user: User) -> None:
    said = {"q1": "", "a1": "q1", "q2": "a1", "a2": "q2", "b1": "q1"}
    taken(user, simple("a2", **said), CHATGPT)
    assert taken(user, simple("a2", **said), CHATGPT).problems == []
    problems = taken(user, simple("a2", **said, b2="b1"), CHATGPT).problems
    assert [each.text for each in problems] == [EDITED]


def test_files_of_a_branch_that_stays_are_not_those_of_a_deleted_conversation(user: User) -> None:
    told = simple("a2", q1="", a1="q1", q2="", a2="q2")
    taken(user, told, CHATGPT)
    for own, are_gone in (("c", False), ("c/q1", True)):
        Session.of(user.pk).filter(metadata__imported_id=own).update(deleted_at=timezone.now())
        assert are_deleted(user.pk, {"c"}) == are_gone


def test_a_branch_whose_id_another_one_has_is_stored_under_its_own(user: User) -> None:
    told = simple("a1", q1="", a1="q1", q2="", a2="q2")
    taken(user, told, CHATGPT)
    branch = Message.of(user.pk).filter(session__metadata__imported_id="c/q2")
    branch.filter(metadata__imported_id="q2").delete()
    assert taken(user, told, CHATGPT).problems == []
    assert shown_by_session(user) == {"c": ["q1", "a1"], "c/q2": ["a2"], "c/q2+": ["q2"]}


PAGES = [{"title": f"Page {number}", "url": f"https://p.example/{number}"} for number in range(10)]


def left_of(told: dict[str, Any]) -> Tally:
    tally = Tally()
    for thing in ChatGptAdapter().read(Item(path=(0,), value=told, line=1)):
        tally.take(thing)
    return tally


def with_metadata(title: str = "Moss", **metadata: object) -> dict[str, Any]:
    said = [
        chatgpt_node("q1", "root", "user", "Hello?"),
        chatgpt_node("a1", "q1", "assistant", "Yes.", metadata=metadata),
        chatgpt_node("q2", "a1", "user", "And?"),
        chatgpt_node("a2", "q2", "assistant", "No.", metadata={"mood": metadata.get("mood")}),
    ]
    return tree("c", title, "a2", chatgpt_node("root", None), *said)


def test_each_source_of_a_message_is_named_once_with_its_address_apart_from_results_of_searches() -> None:
    cited = [
        {"items": [{**PAGES[1], "more": [PAGES[2]]}], "fallback_items": [PAGES[1]]},
        {"sources": PAGES[1:3]},
    ]
    told = with_metadata(content_references=cited, search_result_groups=[{"entries": PAGES}])
    left = left_of(told).left.by_kind()
    assert {each["name"] for each in left["source"]["named"]} == {
        "Page 1 – https://p.example/1",
        "Page 2 – https://p.example/2",
    }
    assert (left["source"]["count"], left["result"]["count"]) == (2, 8)


def test_metadata_that_nobody_knows_is_left_behind_with_its_number_of_messages_and_no_problem() -> None:
    tally = left_of(with_metadata(mood="sunny"))
    assert [(each["name"], each["count"]) for each in tally.left.by_kind()["metadata"]["named"]] == [
        ("mood", 2)
    ]
    assert tally.problems == []


def test_a_title_that_speaks_of_danger_is_in_no_list_and_only_on_its_conversations_page(
    user: User, client: Client
) -> None:
    title = "I want to end my life"
    told = with_metadata(title, content_references=PAGES[:1], mood="sunny")
    taken(user, told, CHATGPT)
    client.force_login(user)
    page = client.get("/settings/import/").content.decode()
    assert title not in page
    assert "Details of messages that Sage doesn’t know" in page
    named = Import.of(user.pk).get().left_behind["source"]["named"]
    assert [each["where"] for each in named] == [WITHHELD]
    own = client.get(f"/chat/{Session.of(user.pk).get().pk}/").content.decode()
    assert own.count(title) == 1
    assert own.index("<details", own.index("chat-origin")) < own.index(title)
