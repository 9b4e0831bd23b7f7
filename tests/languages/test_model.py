"""What the model reads is English and the same, whichever language is active; it names the account's own."""

from uuid import UUID

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import override

from coaching.engine.messages import canonical_json
from coaching.turns.request import TurnRequest
from coaching.turns.start import start_turn
from sessions_app import session_services
from sessions_app.limits import RateLimit
from tests.context.five_people import SCENES, Scene
from tests.languages.conftest import speaks

GERMAN = r"\nLanguage: German"

pytestmark = pytest.mark.django_db(transaction=True)


def request_in(code: str, user: User, scene: Scene, session_id: UUID) -> str:
    """Return the request of a turn that somebody starts in a language; the turn is rolled back."""
    asked = TurnRequest(
        kind="message", user_id=user.pk, session_id=session_id, text=scene.text, client_id="1"
    )
    with override(code), transaction.atomic():
        started = start_turn(asked, owner="test", rate_limit=RateLimit(turns=100, seconds=60))
        transaction.set_rollback(True)
    assert started.setup is not None
    request = started.setup.request
    return canonical_json([request.system, request.tools, request.messages])


@pytest.mark.parametrize("name", SCENES)
def test_a_request_is_the_same_in_every_language(name: str, user: User) -> None:
    scene = SCENES[name]
    with time_machine.travel(scene.at, tick=False):
        scene.seed(user)
        session = session_services.open_session(user_id=user.pk, kind=scene.kind)
        in_english = request_in("en", user, scene, session.id)
        speaks(user, "de")
        of_account = request_in("de", user, scene, session.id)
        assert of_account == request_in("es", user, scene, session.id)
        # Somebody in the scenes has chosen German before.
        assert of_account.replace(GERMAN, "") == in_english.replace(GERMAN, "")
