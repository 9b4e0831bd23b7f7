"""What the model is sent about a mix of documents: tokens by purpose, as the practice model counts them.

A quarter of the texts are long. In two of six calls the model looks one reference up before it answers, in
one two, one after another. No workers: the calls alone are counted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from importlib import import_module, util
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.test import override_settings

from coaching.context.budget import count_tokens
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.direct import read_directly
from coaching.library.references.files import sync_reference_files
from coaching.model_client.connection import ModelConnection
from coaching.models import Document, DocumentSource, DocumentText
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.documents import classify
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.library.labelled_texts import read_labelled_texts

BATCHES = 4
LONG_TIMES = 14
LOOKUPS = (0, 1, 0, 0, 1, 2)
"""How many references are looked up in the calls, in turn."""
QUERIES = ("will", "diploma")
FACTS = "coaching.library.pipeline.facts"


class Asker:
    """A model that looks references up before it classifies, and counts its calls."""

    def __init__(self) -> None:
        self._calls = 0
        self._left = 0

    def answer(self, body: Mapping[str, Any]) -> Reply:
        if is_analysis(body):
            return analyse(body)
        if len(body["messages"]) == 1 and body.get("tools"):
            self._left = LOOKUPS[self._calls % len(LOOKUPS)]
            self._calls += 1
        if self._left and body.get("tools"):
            self._left -= 1
            return Reply.of(ToolUse("lookup_reference", {"query": QUERIES[self._left]}))
        return classify(body)


async def run() -> list[str]:
    """Return a line for each purpose."""
    await in_database(sync_reference_files)
    asker = Asker()
    async with AsyncExitStack() as running:
        practice = await running.enter_async_context(PracticeServer(tokens_per_second=0, answer=asker.answer))
        own = {"IS_PRACTICE_MODEL": False, "ANTHROPIC_BASE_URL": practice.url, "ANTHROPIC_API_KEY": "bench"}
        running.enter_context(override_settings(**own))
        models = ModelConnection()
        user, documents = await in_database(_take_in)
        try:
            for batch in documents:
                ids = [document.pk for document in batch]
                services = Services(client=models.client)
                await read_directly(
                    user_id=user.pk, document_ids=ids, services=services, progress=lambda _: None
                )
            if util.find_spec(FACTS):
                find_facts = import_module(FACTS).find_facts
                for document in [each for batch in documents for each in batch]:
                    await find_facts(document.pk, client=await models.client())
        finally:
            await models.close()
    return await in_database(_lines, user)


def _take_in() -> tuple[User, Sequence[Sequence[Document]]]:
    """Take in batches of eight, and as many documents alone, as a conversation's are."""
    user = get_user_model().objects.create_user(username="cost")
    destination = destination_of(user_id=user.pk, source=DocumentSource.COMMAND)
    labelled = read_labelled_texts()
    sizes = [8] * BATCHES + [1] * 8
    batches, place = [], 0
    for size in sizes:
        batch = []
        for _ in range(size):
            item = labelled[place * 7 % len(labelled)]
            text = "\n".join(
                f"{item.text}\nParagraph {n}." for n in range(LONG_TIMES if place % 4 == 0 else 1)
            )
            name = item.name or f"document {place}.txt"
            batch.append(
                take_in(user_id=user.pk, name=f"{place} {name}", data=text.encode(), destination=destination)
            )
            place += 1
        batches.append(batch)
    return user, batches


def _lines(user: User) -> list[str]:
    texts = DocumentText.unscoped.filter(document__user=user).values_list("text", flat=True)
    own = sum(map(count_tokens, texts))
    documents = len(texts)
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    names = ("input_tokens", "cache_creation_5m_tokens", "cache_read_tokens", "output_tokens")
    for row in ModelUsage.of(user.pk):
        found = sums[row.purpose]
        found["calls"] += 1
        for name in names:
            found[name] += getattr(row, name)
    lines = [f"{documents} documents of {own:,} tokens together"]
    for purpose, found in sorted(sums.items()):
        sent = found["input_tokens"] + found["cache_creation_5m_tokens"]
        whole = sent + found["cache_read_tokens"]
        lines.append(
            f"{purpose}: {found['calls']} requests, sent anew {sent:,} "
            f"({sent / documents:,.0f} a document, {sent / own:.2f} × their own), "
            f"from the cache {found['cache_read_tokens']:,} ({found['cache_read_tokens'] / whole:.0%}), "
            f"written {found['output_tokens']:,}"
        )
    return lines
