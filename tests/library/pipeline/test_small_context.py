"""What a model is sent to classify a document: less in a small context, and the language of the reasons."""

import json

import pytest
from django.test import override_settings
from pytest_django import Settings

from coaching.context.budget import count_json_tokens
from coaching.engine.messages import canonical_json
from coaching.library.pipeline.batch import Item
from coaching.library.pipeline.knowledge import COMPACT_SKILL, SKILL, Knowledge, Surroundings
from coaching.library.pipeline.requests import (
    LOCAL_ANSWER_TOKENS,
    MAX_ANSWER_TOKENS,
    build_request,
    request_tokens,
)
from coaching.library.pipeline.stages.select_references import select_references
from coaching.library.pipeline.tools import pipeline_tools
from coaching.library.references.current import References
from coaching.model_client.servers import model_server
from coaching.models import Client, Document
from coaching.practice.coach.documents import classify
from coaching.practice.script import Text
from coaching.skills.reader import read_skill, skills_root
from tests.library.labelled_texts import read_labelled_texts
from tests.model_client.test_servers import PROPS, answering

SMALL = 8_192


@pytest.mark.parametrize("context", [SMALL, 32_000])
def test_a_small_context_gets_only_the_types_that_the_document_may_be(
    shipped: References, settings: Settings, context: int
) -> None:
    settings.SAGE_CONTEXT_TOKENS = context
    skill, compact_skill = (read_skill(skills_root() / name).text for name in (SKILL, COMPACT_SKILL))
    knowledge = Knowledge(skill=skill, compact_skill=compact_skill, references=shipped)
    around = Surroundings(client=Client(id=1), corrections=())
    for labelled in read_labelled_texts()[::10]:
        types = select_references(shipped, name=labelled.name, text=labelled.text).file_types
        item = Item(document=Document(id=1, name="letter"), text=labelled.text, references=types)
        tools = pipeline_tools([item]).toolset.definitions()
        request = build_request([item], knowledge=knowledge, around=around, tools=tools)
        listed = {name for name in shipped.by_type if f"- {name}: " in request.system[0]["text"]}
        if context == SMALL:
            assert listed == set(types)
            in_words = count_json_tokens(canonical_json(request.output_format))
            assert request_tokens(request) + in_words < SMALL * 0.6
            assert not request.tools
        else:
            assert (listed, request.tools) == (set(shipped.by_type), tools)


@pytest.mark.parametrize(("code", "reason"), [("", "It says “"), ("de", "Darin steht „"), ("es", "Dice «")])
def test_a_request_names_the_language_that_the_owner_reads(
    shipped: References, code: str, reason: str
) -> None:
    knowledge = Knowledge(skill="Classify.", compact_skill="Classify.", references=shipped)
    around = Surroundings(client=Client(id=1), corrections=(), language=code)
    labelled = read_labelled_texts()[0]
    types = select_references(shipped, name=labelled.name, text=labelled.text).file_types
    item = Item(document=Document(id=1, name=labelled.name), text=labelled.text, references=types)
    request = build_request([item], knowledge=knowledge, around=around, tools=())
    assert (f'reads="{code}"' in str(request.messages)) is bool(code)
    answer = classify(
        {"messages": request.messages, "output_config": {"format": request.output_format}}
    ).blocks[0]
    assert isinstance(answer, Text)
    assert json.loads(answer.text)["documents"][0]["why"].startswith(reason)


@pytest.mark.parametrize("name", [SKILL, COMPACT_SKILL])
def test_whichever_skill_a_model_gets_says_what_names_the_language(name: str) -> None:
    assert "`reads` names, otherwise in the document" in read_skill(skills_root() / name).text


def test_a_local_server_writes_no_more_than_the_documents_need(shipped: References) -> None:
    knowledge = Knowledge(skill="Classify.", compact_skill="Classify.", references=shipped)
    around = Surroundings(client=Client(id=1), corrections=())
    items = [
        Item(document=Document(id=number, name="letter"), text="Hi", references=["letter"])
        for number in (1, 2)
    ]
    request = build_request(items, knowledge=knowledge, around=around, tools=())
    assert request.max_tokens == MAX_ANSWER_TOKENS
    with (
        answering({"/props": PROPS}) as server,
        override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="own"),
    ):
        assert model_server().is_local
        request = build_request(items, knowledge=knowledge, around=around, tools=())
    assert request.max_tokens == 2 * LOCAL_ANSWER_TOKENS
