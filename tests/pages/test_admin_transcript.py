"""A conversation in the admin: in the order in which its user read it, inputs as tables, no old tag."""

import html

import pytest

from sessions_app.models import Session
from tests.conftest import MakeUser
from tests.legacy_text.replies import RAW_TAG
from tests.legacy_text.shown import words_of_page
from tests.pages.conftest import Exchange
from tests.pages.test_admin import staff_with
from tests.pages.test_old_replies import OLD

pytestmark = pytest.mark.django_db

SHOWN = (
    "Hello &lt;b&gt;", "Here it is.", "save_file", "Walk slowly", "Leading a *team*.", "What now?",
    "complete_session", "And now?", "First <em>this</em>.", "to choose", "picked", "Then that.",
)  # fmt: skip


def test_words_are_in_the_order_in_which_they_were_read(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    old, today = exchange("Hello <b>", OLD, metadata={}), exchange("And now?", "First *this*.\n\nThen that.")
    call = {
        "id": "toolu_1",
        "name": "show_options",
        "input": {"options": [{"label": "Über <b>"}], "reason": "to choose"},
        "result": "picked",
        "is_error": False,
        "round": 1,
    }
    today.messages.filter(role="assistant").update(metadata={"round_ends": [13, 25], "tool_calls": [call]})
    client = staff_with(make_user, "view_session", "read_message_text")
    page = client.get(f"/admin/sessions_app/session/{session.id}/words/").content.decode()
    assert old.messages.count() == 2
    places = [page.index(text) for text in SHOWN]
    assert places == sorted(places)
    assert '"label": "Über <b>"' in html.unescape(page)
    assert "{&#x27;" not in page, "no dictionaries of Python"
    assert not RAW_TAG.search(words_of_page(page, with_code=False))
