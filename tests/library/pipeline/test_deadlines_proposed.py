"""Deadlines of letters become dates of next steps and facts; of ambiguous ones nothing is guessed."""

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.models import ActionItem, Document
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents
from coaching.practice.script import Reply, ToolUse
from sessions_app.database import in_database
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import fresh, upload
from tests.library.pipeline.test_sourced import ask, first_round
from tests.library.pipeline.truth import TruthfulModel
from tests.library.rows import make_document
from tests.library.test_dates import OPEN
from tests.library.test_deadlines import COUNTED, DUE, LETTERS
from tests.thoroughness import size

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

WRITTEN_IN = ("de", "en", "es", "fr", "it", "pl")
AMBIGUOUS = size(20, long=100)
TOGETHER = 10


def deadline(document_id: int, quote: str, day: date, title: str = "Pay it") -> ToolUse:
    values = {"document_id": document_id, "quote": quote, "title": title, "due_date": day.isoformat()}
    return ToolUse("create_action_item", values)


async def test_deadlines_of_letters_in_six_languages_become_dates(
    user: User, practice: PracticeServer, model: TruthfulModel, work_off: WorkOff
) -> None:
    letters = {f"{code} written.txt": LETTERS[code] for code in WRITTEN_IN} | {
        f"{code} counted.txt": "\n\n".join([*LETTERS[code].split("\n\n")[:-1], COUNTED[code]])
        for code in WRITTEN_IN
    }
    quotes = {name: text.splitlines()[-1] for name, text in letters.items()}
    model.said = {
        name: {"key_facts": [{"name": "Due", "value": DUE.isoformat(), "quote": quote, "page": 1}]}
        for name, quote in quotes.items()
    }

    def propose(body: Mapping[str, Any]) -> Reply | None:
        sent = sent_documents(body) if len(body["messages"]) == 1 else []
        return Reply.of(*(deadline(each.id, quotes[each.name], DUE) for each in sent)) if sent else None

    model.script = propose
    documents = await upload(user, *letters.items())
    await work_off()
    rows = {row.document_id: row for row in await in_database(lambda: list(ActionItem.of(user.pk)))}
    assert len(rows) == len(letters)
    for document in await fresh(*documents):
        row = rows[document.pk]
        assert (row.due_date, row.quote) == (DUE, quotes[document.name])
        assert row.due_words
        assert row.due_words in row.quote
        is_written = "written" in document.name
        assert [fact["value"] for fact in document.key_facts] == ([DUE.isoformat()] if is_written else [])


async def test_of_many_ambiguous_dates_none_becomes_a_deadline(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    pairs = [(first, second) for first in range(1, 13) for second in range(1, 13) if first != second]
    chosen = random.Random(28).sample(pairs, AMBIGUOUS)

    def text_of(number: int) -> str:
        first, second = chosen[number]
        mark = "/-"[number % 2]
        written = f"{first:02}{mark}{second:02}{mark}{'27' if number % 3 else '2027'}"
        return OPEN[number % len(OPEN)].format(written, written) + f" This is letter {number}."

    def make() -> Sequence[Document]:
        client = own_client(user.pk)
        return [make_document(client, f"{n}.txt", text=text_of(n)) for n in range(AMBIGUOUS)]

    letters = await in_database(make)
    for begin in range(0, AMBIGUOUS, TOGETHER):
        numbers = range(begin, begin + TOGETHER)
        uses = [
            deadline(letters[n].pk, text_of(n), date(2027, month, day), title)
            for n in numbers
            for (month, day), title in ((chosen[n], "Pay it"), (chosen[n][::-1], "Pay the rent"))
        ]
        model.script = first_round(uses)
        await ask(user, [letters[n] for n in numbers])
    rows = await in_database(lambda: list(ActionItem.of(user.pk)))
    assert len(rows) == 2 * AMBIGUOUS
    assert {(row.due_date, row.due_words) for row in rows} == {(None, "")}
