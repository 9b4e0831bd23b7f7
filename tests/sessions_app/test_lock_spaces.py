"""The numbers of advisory locks."""

import psycopg
import pytest
from django.db import connection

from sessions_app.lock_spaces import DatabaseLock, LockSpace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("held", DatabaseLock)
def test_a_lock_with_one_number_keeps_nobody_from_one_with_two(held: DatabaseLock) -> None:
    parameters = connection.get_connection_params()
    with psycopg.connect(**parameters) as holder, psycopg.connect(**parameters) as other:
        holder.execute("SELECT pg_advisory_lock(%s)", [held.value])
        for pair in [(0, held.value), *((space.value, 0) for space in LockSpace)]:
            assert other.execute("SELECT pg_try_advisory_lock(%s, %s)", pair).fetchone() == (True,)
        assert other.execute("SELECT pg_try_advisory_lock(%s)", [held.value]).fetchone() == (False,)
