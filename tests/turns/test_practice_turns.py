"""Without a key a script answers: its turns have their own model name and cost nothing, on every page."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from coaching.engine.profiles import PROFILES
from coaching.live.runner import Runner
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, ModelUsage, Session, Turn
from tests.browsers import browser_of
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_practice_turn_has_its_own_model_and_no_price(user: User) -> None:
    assert settings.IS_PRACTICE_MODEL
    session = await in_database(open_conversation, user)
    runner = Runner()
    for text in ("Good morning", "Thank you"):  # the second one closes a turn that waits
        await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text=text))
        assert await runner.wait_until_idle(session.id, seconds=30)
    await runner.drain(1)
    turn = await in_database(Turn.unscoped.earliest, "started_at")
    usages = await in_database(lambda: list(ModelUsage.unscoped.values_list("model", "cost_micro_usd")))
    assert turn.model == settings.PRACTICE_MODEL
    assert set(usages) == {(settings.PRACTICE_MODEL, 0)}
    answer = await in_database(Message.unscoped.get, role=MessageRole.ASSISTANT, turn=turn)
    assert answer.metadata["usage"]["cost_micro_usd"] == 0
    assert answer.metadata["usage"]["output_tokens"] > 0
    why, usage = await in_database(_pages, user, session)
    assert "<li>Free</li>" in why
    assert "US cents" not in why
    assert "The practice model is free." in usage
    assert "$0.00" in usage


def _pages(user: User, session: Session) -> tuple[str, str]:
    client = browser_of(user)
    return client.get(f"/chat/{session.id}/").content.decode(), client.get(
        "/settings/usage/"
    ).content.decode()


def test_all_models_are_the_practice_model_where_no_key_is_set() -> None:
    configured = {getattr(settings, f"SAGE_{use}MODEL") for use in ("", "BRIEF_", "CLASSIFY_", "CRITIC_")}
    assert configured == {settings.PRACTICE_MODEL}
    assert settings.PRACTICE_MODEL in PROFILES
