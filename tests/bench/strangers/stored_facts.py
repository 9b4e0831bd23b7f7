"""Facts of the sample's files, from the files to the database: what `--facts` does once that is there."""

import io
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.test import override_settings

from coaching.library.pipeline import extraction
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.facts import find_facts
from coaching.library.references.files import sync_reference_files
from coaching.model_client.connection import ModelConnection
from coaching.models import Document, DocumentText
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from tests.bench.strangers.clones import Member, members
from tests.bench.strangers.noted_facts import ACROSS, RIGHT, Noting, faults_of
from tests.library.rows import make_client, make_document

SEED = "28 facts"
KINDS = (RIGHT, ACROSS, WRONG := "wrong")


async def run(clones: Path, count: int) -> Sequence[str]:
    """Return a line for each document, each exception, and the sums."""
    await in_database(sync_reference_files)
    model, said = Noting(), list[str]()
    sums: Counter[str] = Counter()
    async with PracticeServer(tokens_per_second=0, answer=model.answer) as server:
        with override_settings(
            IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="practice"
        ):
            for member, found in with_text(clones, count):
                model.noted, model.said = {}, {}
                document = await _read(await in_database(_stored, member, found))
                said += _report(member, found, document, model, sums)
    return [*said, *(f"{name}: {number}" for name, number in sums.items())]


def with_text(clones: Path, count: int) -> Iterator[tuple[Member, Extraction]]:
    """Yield so many files of the sample that have a text, drawn with a fixed seed."""
    drawn = members()
    random.Random(SEED).shuffle(drawn)
    for member in drawn:
        data = member.data(clones)
        found = extraction.extract_now(io.BytesIO(data), size=len(data), name=member.name)
        if found.outcome == "text" and count:
            count -= 1
            yield member, found
        if not count:
            return


def _stored(member: Member, found: Extraction) -> Document:
    user, _ = get_user_model().objects.get_or_create(username="reader")
    document = make_document(make_client(user), member.name, text=found.text)
    DocumentText.within(document).update(pages_read=list(found.pages_read))
    return document


async def _read(document: Document) -> Document:
    models = ModelConnection()
    try:
        await find_facts(document.pk, client=await models.client())
    finally:
        await models.close()
    return await in_database(lambda: Document.unscoped.get(id=document.pk))


def _report(
    member: Member, found: Extraction, document: Document, model: Noting, sums: Counter[str]
) -> Iterator[str]:
    noted, facts = model.noted, list[dict[str, Any]](document.key_facts)
    pages = dict(zip(found.pages_read or range(1, len(found.pages) + 1), found.pages, strict=True))
    offered = Counter(map(_kind, noted.values()))
    stored = Counter(_kind(noted[fact["name"]]) for fact in facts)
    exceptions = [
        (fact, faults)
        for fact in facts
        if (faults := faults_of(fact, pages, may_run_on=noted[fact["name"]] == ACROSS))
    ]
    sums["documents"] += 1
    sums["with several pages"] += len(pages) > 1
    for kind in KINDS:
        sums[f"{kind}: offered"] += offered[kind]
        sums[f"{kind}: stored"] += stored[kind]
    sums["stored"] += len(facts)
    sums["exceptions"] += len(exceptions)
    yield f"{member.kind} {member.name}: {len(pages)} pages, offered {dict(offered)}, stored {dict(stored)}"
    kept = {fact["name"] for fact in facts}
    yield from (
        f"  right, not stored: {model.said[name]}"
        for name in noted
        if noted[name] == RIGHT and name not in kept
    )
    yield from (f"  exception: {faults} {fact}" for fact, faults in exceptions)
    yield from (
        f"  stored though {noted[fact['name']]}: {fact}"
        for fact in facts
        if _kind(noted[fact["name"]]) == WRONG
    )


def _kind(what: str) -> str:
    return what if what in KINDS else WRONG
