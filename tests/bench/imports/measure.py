"""The measurement of `tests.bench.imports`."""

import json
import sys
import time
from pathlib import Path

import psutil
from django.contrib.auth.models import User

from coaching.models import Import
from sessions_app.models import Message
from tests.legacy.exports import chatgpt_conversation, write_sage_export
from tests.legacy.killing import import_in_process, kill_import, start_import
from tests.legacy.test_import_command import rows_of

MEGABYTE = 1 << 20


def run(folder: Path, *, sessions: int, messages: int, kills: int, megabytes: int) -> bool:
    """Import, import again, and kill imports; print the figures and return whether all rows are right."""
    path = write_sage_export(
        folder / "export.json", sessions=sessions, messages=messages, files=365, ratings=1_000
    )
    say(f"{sessions:,} sessions, {messages:,} messages, {path.stat().st_size / MEGABYTE:.0f} MB")
    whole, again, killed = (User.objects.create_user(name) for name in ("whole", "again", "killed"))
    _timed("import", path, whole, messages)
    _timed("the same again", path, whole, messages)
    made = import_in_process(path, again)
    for kill in range(kills):
        after = messages * kill // kills + 1
        say(f"killed after {kill_import(path, killed, after=after):,} messages")
    is_same = import_in_process(path, killed) == made and rows_of(killed) == rows_of(whole) == rows_of(again)
    say(f"the same rows after {kills} kills: {is_same}; imports: {Import.of(killed.pk).count()}")
    if megabytes:
        large = folder / "large.json"
        _write_chatgpt_export(large, megabytes)
        _timed(f"ChatGPT's, {megabytes} MB", large, User.objects.create_user("large"), 0)
    return is_same


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


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
