"""A title is never made from words in which only a second look noticed danger."""

import pytest
from django.contrib.auth.models import User

from coaching.practice import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, TitleSource
from sessions_app.titles import rename_session, store_title
from tests.jobs.conftest import WorkOff, opened_session, see_danger
from tests.jobs.test_titles import WORDS, sent, title_of, untitled

pytestmark = pytest.mark.django_db(transaction=True)


async def test_danger_that_only_a_second_look_noticed_is_not_sent_for_a_title(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await untitled(user, WORDS, "What keeps you awake?")
    await in_database(see_danger, session)
    await work_off()
    assert sent(practice) == []
    assert await title_of(session) == ("", TitleSource.WITHHELD)


async def test_danger_noticed_while_a_title_is_made_withholds_it(user: User) -> None:
    session = await in_database(opened_session, user, WORDS, "What keeps you awake?", is_titled=False)
    await in_database(see_danger, session)
    assert not await in_database(store_first_title, session)
    assert await title_of(session) == ("", TitleSource.WITHHELD)


async def test_a_title_from_before_danger_was_noticed_is_taken_back_unless_it_is_the_user_s(
    user: User,
) -> None:
    session = await in_database(opened_session, user, WORDS, "What keeps you awake?", is_titled=False)
    other = await in_database(opened_session, user, WORDS, "What keeps you awake?", is_titled=False)
    assert await in_database(store_first_title, session)
    await in_database(rename_session, user_id=user.pk, session_id=other.id, title="My nights")
    for each in (session, other):
        await in_database(see_danger, each)
    assert await title_of(session) == ("", TitleSource.WITHHELD)
    assert await title_of(other) == ("My nights", TitleSource.USER)


def store_first_title(session: Session) -> bool:
    return store_title(user_id=session.user_id, session_id=session.id, title="Sleep", numbers=[1, 2])
