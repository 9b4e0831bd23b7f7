"""A page renders all its texts in one call, after all reads."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from coaching.models import ReflectionPrompt
from coaching.sandbox.host import ProcessHost
from coaching.transcript.rows import PAGE_MESSAGES
from sessions_app.models import Session, Turn, TurnStatus
from tests.pages.conftest import Exchange, KeepFile

pytestmark = pytest.mark.django_db(transaction=True)

EXCHANGES = PAGE_MESSAGES // 2 + 5

Watch = Callable[[str], tuple[str, list[int], list[str]]]


@pytest.fixture
def watch(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Open a page; return it, how many texts each call rendered, and the queries after the last one."""

    def opened(address: str) -> tuple[str, list[int], list[str]]:
        calls: list[int] = []
        late: list[str] = []
        ask_all = ProcessHost.ask_all

        def counted(host: ProcessHost, requests: Sequence[bytes]) -> Any:
            calls.append(len(requests))
            late.clear()
            return ask_all(host, requests)

        def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            late.append(sql)
            return execute(sql, params, many, context)

        with monkeypatch.context() as patch, connection.execute_wrapper(noted):
            patch.setattr(ProcessHost, "ask_all", counted)
            response = signed_in.get(address)
        assert response.status_code == 200
        return response.content.decode(), calls, late

    return opened


def two_rounds(name: str) -> dict[str, Any]:
    """Return an answer of two rounds."""
    first = f"*{name}, first*"
    answer = f"{first}\n\n*{name}, then*"
    metadata = {"round_ends": [len(first), len(answer)], "notes": [], "tool_calls": []}
    return {"answer": answer, "metadata": metadata}


def test_a_conversation_and_what_was_said_earlier_render_their_texts_in_one_call_each(
    watch: Watch, session: Session, exchange: Exchange
) -> None:
    for number in range(EXCHANGES):
        exchange("Hi", **two_rounds(f"answer {number}"))
    running = exchange("And?", None, status=TurnStatus.RUNNING, ended_at=None)
    assert isinstance(running, Turn)
    running.rounds.create(number=1, part=1, blocks="[]", text="*a finished round*")
    page, calls, late = watch(f"/chat/{session.id}/")
    assert "<em>a finished round</em>" in page
    assert f"<em>answer {EXCHANGES - 1}, then</em>" in page
    shown = page.count("<em>answer ")
    assert calls == [shown + 1]
    assert late == []
    page, calls, late = watch(f"/chat/{session.id}/?before={2 * (EXCHANGES - shown // 2) + 1}")
    assert "<em>answer 0, first</em>" in page
    assert calls == [page.count("<em>answer ")]
    assert late == []


def test_home_a_question_and_a_file_render_theirs_in_one_call_each(
    watch: Watch, user: User, keep_file: KeepFile
) -> None:
    domain = keep_file("life-map/health.md", "---\ntype: domain\n---\n\nOn *health*.")
    asked = keep_file("reflections/rest.md", "What is *rest*?")
    waits = ReflectionPrompt.unscoped.create(user=user, file=asked, text="What is *rest*?")
    page, calls, late = watch("/")
    assert "<em>rest</em>" in page
    assert (calls, late) == ([1], [])
    ReflectionPrompt.unscoped.update(text="What is *ease*?")
    page, calls, _ = watch(f"/reflections/{waits.pk}/")
    assert "<em>ease</em>" in page
    assert calls == [1]
    page, calls, late = watch(f"/files/{domain.path}")
    assert "<em>health</em>" in page
    assert (calls, late) == ([1], [])
