"""The first call of a process imports the SDK while the process goes on answering others."""

import sys
import threading
from collections.abc import Sequence
from types import ModuleType

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from sessions_app.database import in_database
from tests.conftest import MakeUser
from tests.mcp.lives import token_of

pytestmark = pytest.mark.django_db(transaction=True)

TRANSPORT = "coaching.api.mcp.transport"


class Noting:
    """Notes in which thread the transport is imported."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> None:
        if name == TRANSPORT:
            self.threads.append(threading.get_ident())


@pytest.fixture
def ada(make_user: MakeUser) -> User:
    return make_user("ada")


async def test_the_sdk_is_imported_in_another_thread(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token = await in_database(token_of, ada, "read")
    noting = Noting()
    monkeypatch.delitem(sys.modules, TRANSPORT, raising=False)
    monkeypatch.setattr(sys, "meta_path", [noting, *sys.meta_path])
    message = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    answered = await AsyncClient().post("/mcp", message, content_type="application/json", headers=headers)
    assert answered.status_code == 200
    assert len(noting.threads) == 1
    assert threading.get_ident() not in noting.threads
