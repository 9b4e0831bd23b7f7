"""The measurement of `tests.bench.imports`."""

import json
import time
from io import StringIO
from pathlib import Path

import psutil
from django.contrib.auth.models import User
from django.core.management import call_command

from coaching.models import Import
from sessions_app.models import Message
from tests.legacy.exports import chatgpt_conversation, write_sage_export
from tests.legacy.killing import import_in_process, kill_import, start_import
from tests.legacy.strict_requests import check_every_request
from tests.legacy.test_import_command import rows_of
from tests.printing import say

MEGABYTE = 1 << 20


def run(folder: Path, *, sessions: int, messages: int, kills: int, megabytes: int) -> bool:
    """Import, kill imports, rewrite the replies; print the figures and return whether all is right."""
    path = write_sage_export(
        folder / "export.json", sessions=sessions, messages=messages, files=365, ratings=1_000
    )
    say(f"{sessions:,} sessions, {messages:,} messages, {path.stat().st_size / MEGABYTE:.0f} MB")
    whole, again, killed = (User.objects.create_user(name) for name in ("whole", "again", "killed"))
    _timed("import", path, whole, messages)
    _timed("the same again", path, whole, messages)
    is_same = True
    if kills:
        made = import_in_process(path, again)
        for kill in range(kills):
            after = messages * kill // kills + 1
            say(f"killed after {kill_import(path, killed, after=after):,} messages")
        is_same = import_in_process(path, killed) == made
        is_same = is_same and rows_of(killed) == rows_of(whole) == rows_of(again)
        say(f"the same rows after {kills} kills: {is_same}; imports: {Import.of(killed.pk).count()}")
    if megabytes:
        large = folder / "large.json"
        _write_chatgpt_export(large, megabytes)
        _timed(f"ChatGPT's, {megabytes} MB", large, User.objects.create_user("large"), 0)
    return _rewrite(whole) and _check_requests(whole) and is_same


def _rewrite(user: User) -> bool:
    """Rewrite the old blocks; return whether the dry run had said so, and a second run changes nothing."""
    before = rows_of(user)
    predicted = _timed_backfill("backfill, dry run", user, "--dry-run")
    is_unchanged = rows_of(user) == before
    is_predicted = _timed_backfill("backfill", user) == predicted
    after = rows_of(user)
    is_idle = not any(_timed_backfill("backfill again", user).values()) and rows_of(user) == after
    say(f"dry run changed nothing: {is_unchanged}; predicted it: {is_predicted}; the second none: {is_idle}")
    return is_unchanged and is_predicted and is_idle


def _timed_backfill(name: str, user: User, *options: str) -> dict[str, int]:
    out, began = StringIO(), time.monotonic()
    call_command(
        "backfill_legacy", "--json", "--user", user.username, *options, stdout=out, stderr=StringIO()
    )
    counts: dict[str, int] = json.loads(out.getvalue().splitlines()[-1])
    say(f"{name}: {time.monotonic() - began:.1f} s; {json.dumps(counts)}")
    return counts


def _check_requests(user: User) -> bool:
    began = time.monotonic()
    checked = check_every_request(user.pk)
    say(
        f"{checked.whole:,} whole requests and {checked.prefixes:,} of earlier messages checked in "
        f"{time.monotonic() - began:.0f} s; refused: {checked.refused:,}"
    )
    for refusal in checked.refusals:
        say(f"  {refusal}")
    return not checked.refused


def _timed(name: str, path: Path, user: User, messages: int) -> None:
    began = time.monotonic()
    process, log = start_import(path, user)
    most = 0
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            most = max(most, watched.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.1)
    assert process.wait(60) == 0, log.read_text()
    seconds = time.monotonic() - began
    count = messages or Message.of(user.pk).count()
    say(
        f"{name}: {seconds:.1f} s with its start, {count / seconds:,.0f} messages a second, "
        f"{most / MEGABYTE:.0f} MB; {log.read_text().splitlines()[-1]}"
    )


def _write_chatgpt_export(path: Path, megabytes: int) -> None:
    """Write an export of that size, on one line, as ChatGPT's are."""
    conversation = json.dumps(chatgpt_conversation() | {"padding": "x" * 200_000})
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        number = 0
        while file.tell() + 2 * len(conversation) < megabytes * MEGABYTE:
            file.write((", " if number else "") + conversation.replace('"c-1"', f'"c-{number}"'))
            number += 1
        file.write("]")
