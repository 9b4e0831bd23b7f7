"""An import that is killed and run again leaves the rows of one that was left alone."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from coaching.models import Import, ImportState
from sessions_app.models import Message, Session
from tests.legacy.exports import write_sage_export
from tests.legacy.killing import import_in_process, kill_import
from tests.legacy.test_import_command import rows_of
from tests.thoroughness import sample, size

pytestmark = [pytest.mark.django_db(transaction=True)]

SIZE = {"sessions": size(120, long=200), "messages": size(1_200, long=2_000), "files": 10, "ratings": 20}
POINTS = sample((700, 1), of_each=2)
"""After so many messages, long before the end."""


def test_killed_at_some_points_and_run_again_it_gives_the_same_rows(
    tmp_path: Path, user: User, other_user: User
) -> None:
    path = write_sage_export(tmp_path / "export.json", **SIZE)
    whole = import_in_process(path, other_user)
    stored = []
    for after in POINTS:
        stored.append(kill_import(path, user, after=after))
        # What is there is whole: no session without its messages.
        for session in Session.of(user.pk):
            assert session.messages.count() == session.last_message_number == session.imported_until
    assert stored == sorted(set(stored))
    assert stored[0] > 0
    assert stored[-1] < SIZE["messages"]
    assert import_in_process(path, user) == whole
    assert rows_of(user) == rows_of(other_user)
    # One import, so that one undo takes back all of it.
    assert Import.of(user.pk).get().state == ImportState.FINISHED
    assert Message.of(user.pk).count() == SIZE["messages"]
