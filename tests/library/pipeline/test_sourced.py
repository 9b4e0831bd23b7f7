"""What the pipeline proposes keeps its document, page and sentence; what they don't have isn't stored."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.library.pipeline.batch import Item
from coaching.library.pipeline.call_records import CallPlan, read_rounds
from coaching.library.pipeline.calls import make_call, prefix_of
from coaching.library.pipeline.claims import MAX_DOCUMENTS
from coaching.library.pipeline.knowledge import read_knowledge, read_surroundings
from coaching.library.pipeline.requests import build_request
from coaching.library.pipeline.tools import pipeline_tools
from coaching.model_client.connection import ModelConnection
from coaching.models import ActionItem, CallPurpose, Document, DocumentCall, KnowledgeEntry
from coaching.practice import PracticeServer
from coaching.practice.script import Reply, ToolUse
from sessions_app.database import in_database
from tests.library.pipeline.truth import TruthfulModel
from tests.library.rows import make_document
from tests.thoroughness import size

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

TOGETHER = 20
PLANTED = size(24, long=100)
STREETS = ("Quay", "Mill", "Kirk", "Park", "Lake")


def letter(number: int) -> str:
    """Return a letter of three pages; no other has its rent, its day, its name or its last page."""
    rent, day = f"EUR {number + 300}.50", f"{number % 28 + 1} March {2030 + number // 28}"
    tens, ones = ("abcdefghij"[each] for each in divmod(number, 10))
    return (
        f"Dear tenant of {number} {STREETS[number % 5]} Street,\f"
        f"From {day} on the rent is {rent}, payable to Ann{tens}{ones} Holt.\f"
        f"This is page three of letter {number}."
    )


def said(number: int) -> Mapping[str, Any]:
    """Return what is true of a letter: its sentence, day and rent."""
    sentence = letter(number).split("\f")[1]
    found = re.fullmatch(
        r"From (\d+) March (\d+) on the rent is (EUR [\d.]+), payable to (\w+ Holt)\.", sentence
    )
    assert found
    return {
        "quote": sentence,
        "day": date(int(found[2]), 3, int(found[1])).isoformat(),
        "rent": found[3],
        "name": found[4],
    }


def action(document_id: int, number: int, /, **other: Any) -> ToolUse:
    """Return a true proposal of something to do, or one with `other` values."""
    true = said(number)
    values = {
        "document_id": document_id,
        "quote": true["quote"],
        "title": f"Pay {true['rent']} to {true['name']}",
        "due_date": true["day"],
    }
    return ToolUse("create_action_item", values | other)


def entry(document_id: int, client_id: int, number: int, /, **other: Any) -> ToolUse:
    """Return a true proposal of something to know, or one with `other` values."""
    true = said(number)
    values = {
        "client_id": client_id,
        "document_id": document_id,
        "quote": true["quote"],
        "title": "The new rent",
        "content": f"The rent rises to {true['rent']} from {true['day']} on.",
        "key_points": [f"Payable to {true['name']}"],
    }
    return ToolUse("create_knowledge_entry", values | other)


def false_ones(ids: Sequence[int], client_id: int, number: int) -> Sequence[ToolUse]:
    """Return proposals that a letter doesn't bear out: values, quotes, marks, and other letters' numbers."""
    other = (number + 1) % PLANTED
    own, true, theirs = ids[number], said(number), said(other)
    wrong: Sequence[Mapping[str, Any]] = [
        {"title": "Pay EUR 5,000,000", "quote": "e"},
        {"title": f"Pay {theirs['rent']}"},
        {"title": f"Pay {theirs['name']}"},
        {"title": f"Pay {true['rent'].replace('EUR', 'USD')}"},
        {"title": f"Pay {true['rent'][:-3]}"},
        {"title": "Pay the rent", "quote": ""},
        {"title": "Pay the rent", "quote": theirs["quote"]},
        {"title": "Pay the rent", "quote": f"{true['quote'][:-1]} and Eve Smith."},
        {"title": "Pay the rent", "quote": "[page 2] From"},
        {"title": "Pay the rent", "document_id": ids[other]},
        {"title": "Pay the rent", "document_id": ids[(number + PLANTED // 2) % PLANTED]},
        {"title": "Pay the rent", "document_id": 10**12},
    ]
    first, second = wrong[number % len(wrong)], wrong[(number + 5) % len(wrong)]
    said_of = {"content": second["title"]} | {name: second[name] for name in second if name != "title"}
    return [action(own, number, **first), entry(own, client_id, number, **said_of)]


def first_round(uses: Sequence[ToolUse]) -> Callable[[Mapping[str, Any]], Reply | None]:
    """Return a script that makes these calls in the first round and leaves the others to the model."""
    return lambda body: Reply.of(*uses) if len(body["messages"]) == 1 else None


async def ask(user: User, documents: Sequence[Document]) -> DocumentCall:
    """Make one call about documents, as a classification does."""
    items = [
        Item(document=each, text=each.text.text, pages_read=each.text.pages_read, references=["letter"])
        for each in documents
    ]
    client = await in_database(own_client, user.pk)
    tools = pipeline_tools(items)
    request = build_request(
        items,
        knowledge=await in_database(read_knowledge),
        around=await in_database(read_surroundings, user.pk, client.pk),
        tools=tools.toolset.definitions(),
    )
    plan = CallPlan(
        user_id=user.pk,
        client_id=client.pk,
        purpose=CallPurpose.CLASSIFY,
        key=f"classify:{documents[0].pk}",
        document_ids=[each.pk for each in documents],
        request=request,
        prefix=prefix_of(request),
        prompt_tokens=100,
    )
    models = ModelConnection()
    try:
        call = await make_call(plan, client=await models.client(), tools=tools)
    finally:
        await models.close()
    await in_database(call.refresh_from_db, fields=["rounds"])
    return call


def make_letters(user: User, count: int) -> Sequence[Document]:
    client = own_client(user.pk)
    return [make_document(client, f"letter {n}.pdf", text=letter(n)) for n in range(count)]


def results(call: DocumentCall) -> Iterator[Mapping[str, Any]]:
    """Yield the results of a call's tools."""
    for stored in read_rounds(call):
        yield from stored["results"].values()


async def test_of_twenty_documents_in_a_call_each_proposal_keeps_document_page_and_sentence(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    letters = await in_database(make_letters, user, TOGETHER)
    uses = [
        action(each.pk, n) if n % 2 else entry(each.pk, each.client_id, n) for n, each in enumerate(letters)
    ]
    model.script = first_round(uses)
    call = await ask(user, letters)
    assert call.documents == [each.pk for each in letters]
    items = {row.document_id: row for row in await in_database(lambda: list(ActionItem.of(user.pk)))}
    entries = {row.document_id: row for row in await in_database(lambda: list(KnowledgeEntry.of(user.pk)))}
    assert len(items) == len(entries) == TOGETHER // 2
    for number, each in enumerate(letters):
        row = items[each.pk] if number % 2 else entries[each.pk]
        made = row.origin if isinstance(row, ActionItem) else row.made_by
        assert (row.state, made, row.page) == ("proposed", "document" if number % 2 else "pipeline", 2)
        assert row.quote == letter(number).split("\f")[1]
        if number % 2:
            assert items[each.pk].due_date == date.fromisoformat(said(number)["day"])
            assert items[each.pk].due_words in row.quote
        else:
            assert entries[each.pk].key_points == [f"Payable to {said(number)['name']}"]


async def test_of_what_is_planted_in_many_documents_nothing_wrong_is_stored(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    letters = await in_database(make_letters, user, PLANTED)
    ids = [each.pk for each in letters]
    client_id = letters[0].client_id
    for first in range(0, PLANTED, MAX_DOCUMENTS):
        numbers = range(PLANTED)[first : first + MAX_DOCUMENTS]
        uses = [use for n in numbers for use in (*false_ones(ids, client_id, n), action(ids[n], n))]
        model.script = first_round(uses)
        call = await ask(user, [letters[n] for n in numbers])
        refused = [each["content"] for each in results(call) if each["is_error"]]
        assert len(refused) == 2 * len(numbers)
        assert all("Nothing was written" in each for each in refused)
    assert not await in_database(KnowledgeEntry.of(user.pk).exists)
    rows = await in_database(lambda: list(ActionItem.of(user.pk)))
    kept = {(row.document_id, row.title, row.quote, row.page, str(row.due_date)) for row in rows}
    assert len(rows) == PLANTED
    assert kept == {
        (ids[n], f"Pay {said(n)['rent']} to {said(n)['name']}", letter(n).split("\f")[1], 2, said(n)["day"])
        for n in range(PLANTED)
    }


async def test_a_day_that_the_sentence_does_not_name_is_left_out(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    letters = await in_database(make_letters, user, 4)
    uses = [action(each.pk, n, due_date=said(n + 1)["day"]) for n, each in enumerate(letters)]
    model.script = first_round(uses)
    call = await ask(user, letters)
    assert ["left out" in each["content"] for each in results(call)] == [True] * 4
    rows = await in_database(lambda: list(ActionItem.of(user.pk)))
    assert [(row.due_date, row.due_words) for row in rows] == [(None, "")] * 4
