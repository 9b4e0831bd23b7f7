"""What the tools about types of documents return, in both tiers."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.context.budget import count_tokens
from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.messages import canonical_json
from coaching.tools import CHAT_TOOLS, PIPELINE_TOOLS
from tests.tools.committing_context import CommittingContext

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("synced_references")]

NAMES = ("lookup_reference", "list_references", "resolve_placement")


async def run(user: User, name: str, **given: Any) -> str:
    tool = PIPELINE_TOOLS.get(name)
    assert tool is not None
    assert tool is CHAT_TOOLS.get(name)
    result = await tool.run(CommittingContext(user_id=user.pk), tool.parse(json.dumps(given)))
    assert not result.is_error
    return result.content


async def test_a_type_or_words_bring_a_reference_and_name_others(user: User) -> None:
    for query in ("bank-statement", "Bank statement", "Kontoauszug mit altem und neuem Saldo"):
        found = await run(user, "lookup_reference", query=query)
        assert found.startswith('<reference file_type="bank-statement">\n# Bank statement\n')
        assert "- credit-card-statement: A card statement has a credit limit" in found
    others = (await run(user, "lookup_reference", query="bank statement")).partition("Others that")[2]
    assert "\n- credit-card-statement: Credit card statement (money)" in others


async def test_tags_bring_references_forward(user: User) -> None:
    plain = await run(user, "lookup_reference", query="certificate")
    tagged = await run(user, "lookup_reference", query="certificate", tags=["energy", "property"])
    assert plain != tagged
    assert tagged.startswith('<reference file_type="energy-certificate">')


async def test_words_that_fit_nothing_are_said(user: User) -> None:
    with pytest.raises(ToolError, match="No reference fits"):
        await run(user, "lookup_reference", query="zxqv")


async def test_all_types_or_those_of_a_category_are_listed(user: User) -> None:
    lines = (await run(user, "list_references")).splitlines()
    assert "payslip: Payslip (work)" in lines
    assert len(lines) >= 48
    health = (await run(user, "list_references", category="health")).splitlines()
    assert health == [line for line in lines if line.endswith("(health)")] != []
    with pytest.raises(ToolError, match="The categories: coaching, correspondence, "):
        await run(user, "list_references", category="space")


async def test_a_place_is_resolved_by_the_rules(user: User) -> None:
    def given(**values: str) -> dict[str, str]:
        return {"file_type": "lease", "category": "leases", **values}

    assert json.loads(await run(user, "resolve_placement", **given(client_type="company"))) == {
        "folder": "Leases",
        "level": "project",
        "category": "leases",
        "rule": "type",
    }
    own = json.loads(await run(user, "resolve_placement", **given(client_type="self")))
    assert (own["folder"], own["level"]) == ("Home", "client")
    new = json.loads(await run(user, "resolve_placement", **given(file_type="sublease")))
    assert (new["folder"], new["rule"]) == ("Leases", "category")
    none = json.loads(await run(user, "resolve_placement", file_type="comet", category="space"))
    assert none == {"review": "There’s no rule for where documents of this type are filed."}
    with pytest.raises(ToolInputError, match="client_type"):
        await run(user, "resolve_placement", **given(client_type="club"))


def test_their_definitions_are_short() -> None:
    definitions = [tool.definition() for tool in CHAT_TOOLS if tool.name in NAMES]
    assert len(definitions) == 3
    assert sum(count_tokens(canonical_json(definition)) for definition in definitions) <= 350
