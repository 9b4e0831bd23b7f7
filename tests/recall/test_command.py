"""`manage.py recall`: from the shell, and line by line for programs."""

import io
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from sessions_app.models import Message
from tests.recall.history import talk

pytestmark = pytest.mark.django_db


def run(*arguments: Any, **options: Any) -> str:
    out = io.StringIO()
    call_command("recall", *arguments, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_json_says_where_and_when_each_hit_was_said(user: User) -> None:
    session = talk(user, "I sold the tandem", "Why did you sell it?")
    Message.of(user.pk).filter(number=1).update(metadata={"imported_id": "m-17"})
    moment = Message.of(user.pk).get(number=1).created_at
    (hit, neighbour) = json.loads(run("tandem", user="ada", json=True, limit=2))
    assert hit.pop("score") > neighbour["score"] > 0
    assert hit == {
        "source": "message",
        "session": str(session.id),
        "message": 1,
        "importedId": "m-17",
        "date": moment.isoformat(),
        "passage": "I sold the tandem",
    }
    assert neighbour["importedId"] is None


def test_people_read_dates_and_passages(user: User) -> None:
    talk(user, "I sold the tandem")
    assert "I sold the tandem" in run("tandem", user="ada@example.org")


def test_each_line_is_answered_with_one_list(
    user: User, other_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(user, "I sold the tandem", "I see", "The tandem was red")
    lines = [
        json.dumps({"user": "ada", "query": "tandem", "limit": 1}),
        json.dumps({"user": "grace", "query": "tandem"}),
        "",
        json.dumps({"user": str(user.pk), "query": "", "limit": None}),
        json.dumps({"user": user.pk, "query": "\ud800 tandem \x00", "limit": 10**40}),
    ]
    answers, _ = answered(monkeypatch, *map(str.encode, lines))
    assert [len(answer) for answer in answers] == [1, 0, 3, 3]


BAD_LINES = {
    "no JSON": b"tandem",
    "no UTF-8": b"\xff\xfe\xfa",
    "too deep": b"[" * 200_000,
    "a list": b"[]",
    "null": b"null",
    "no query": b'{"user": "ada"}',
    "no user": b'{"query": "tandem"}',
    "a user that is an object": b'{"user": {}, "query": "tandem"}',
    "a user that is unknown": b'{"user": "nobody", "query": "tandem"}',
    "a user with NUL": b'{"user": "ada\\u0000", "query": "tandem"}',
    "a user with half a pair": b'{"user": "ada\\ud800", "query": "tandem"}',
    "a user with a long number": b'{"user": ' + b"9" * 40 + b', "query": "tandem"}',
    "a number too long to read": b'{"user": ' + b"9" * 5_000 + b', "query": "tandem"}',
    "a limit in words": b'{"user": "ada", "query": "tandem", "limit": "many"}',
    "a limit of none": b'{"user": "ada", "query": "tandem", "limit": 0}',
    "a limit that is true": b'{"user": "ada", "query": "tandem", "limit": true}',
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_answered_with_an_empty_list_and_a_reason_and_the_next_is_read(
    user: User, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    talk(user, "I sold the tandem")
    good = b'{"user": "ada", "query": "tandem"}'
    answers, reasons = answered(monkeypatch, good, BAD_LINES[name], good)
    assert [len(answer) for answer in answers] == [1, 0, 1]
    assert reasons.startswith("Line 2: ")
    assert reasons.count("\n") == 1


def test_each_answer_is_written_before_the_next_line_is_read(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Flushed()
    lengths = []

    def asking() -> Iterator[bytes]:
        for line in (b'{"user": "ada", "query": "tandem"}\n', b"bad\n", b"bad\n"):
            yield line
            lengths.append(out.flushed.count("\n"))

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=asking()))
    call_command("recall", stdin=True, stdout=out, stderr=io.StringIO())
    assert lengths == [1, 2, 3]


class Flushed(io.StringIO):
    """Keeps what had been written when it was last flushed."""

    flushed = ""

    def flush(self) -> None:
        self.flushed = self.getvalue()


def answered(monkeypatch: pytest.MonkeyPatch, *lines: bytes) -> tuple[list[list[Any]], str]:
    """Return what each line was answered, and what was written to stderr."""
    out, reasons = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(lines))))
    call_command("recall", stdin=True, stdout=out, stderr=reasons)
    return [json.loads(line) for line in out.getvalue().splitlines()], reasons.getvalue()


@pytest.mark.parametrize("options", [{}, {"user": "ada"}])
def test_a_search_needs_a_query_and_a_user(user: User, options: dict[str, str]) -> None:
    with pytest.raises(CommandError, match=r"Give a query and --user"):
        run(**options)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_limit_without_any_hit_is_refused(user: User, limit: int) -> None:
    with pytest.raises(CommandError, match="--limit is 1 or more"):
        call_command("recall", "tandem", user="ada", limit=limit)
