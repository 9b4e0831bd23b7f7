"""A backup or a restore that is killed leaves the old or the new, whole, and can begin again."""

import base64
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import override_settings

from coaching.models import Capture
from coaching.personal_data.departures import record_departure
from coaching.personal_data.removal import remove_rows
from sage.backups.contents import examine
from sage.backups.databases import close_connections
from sage.backups.restoring import restore
from sage.backups.taking import take_backup
from sage.data_folder import next_secrets
from sage.second_factor import SecondFactorAdapter
from tests.backups.compared import files_of, rows_of
from tests.backups.killed import STEPS
from tests.backups.people import add_version, make_person
from tests.sage.processes import PROJECT
from tests.thoroughness import sample_of_day, size

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = base64.b32encode(b"twenty bytes of this").decode()
POINTS = {
    what: [(when, step) for step in steps for when in ("before", "after")] for what, steps in STEPS.items()
}
WEB, WORKER = ["web", "--port", "0"], ["worker"]
BATCHES = size(1, long=10)
KILLS = size(1, long=10)
"""In each batch. A hundred in one test would take longer than a test may."""
LONGER = 1.25
"""Times what one took that wasn't killed: the last ones are killed after the swap, or end."""


class Stage:
    """A place with an archive, whose rows and files have changed since; runs commands in processes.

    Somebody in it has been deleted since, so the rows that a restore gives lack them. `other` is an archive
    of the changed rows.
    """

    def __init__(self, place: SimpleNamespace) -> None:
        self.place = place
        self.secret = "a secret key for one test, which is long enough"
        (place.folder / "secret_key").write_text(self.secret)
        user = make_person("ada")
        with override_settings(SECRET_KEY=self.secret, SECRET_KEY_FALLBACKS=[]):
            data = {"secret": SecondFactorAdapter().encrypt(SECRET)}
            Authenticator.objects.filter(user=user).update(type="totp", data=data)
            self.archive, self.other = place.folder / "one.tar", place.folder / "other.tar"
            gone = make_person("linus")
            take_backup(self.archive)
            record_departure(gone.pk)
            remove_rows(gone.pk)
            shutil.rmtree(place.files / f"users/{gone.pk}")
        self.new = rows_of(place.name), files_of(place.files)
        Capture.of(user.pk).delete()
        add_version(user, 5000)
        make_person("grace")
        with override_settings(SECRET_KEY=self.secret, SECRET_KEY_FALLBACKS=[]):
            take_backup(self.other)
        self.old = rows_of(place.name), files_of(place.files)
        close_connections()

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return self.run("-m", "tests.backups.killed", *arguments)

    def run(self, *arguments: str, output: int | None = None) -> "subprocess.Popen[bytes]":
        base, _, query = os.environ["DATABASE_URL"].partition("?")
        variables = {
            "DATABASE_URL": f"{base.rpartition('/')[0]}/{self.place.name}?{query}",
            "SAGE_DATA_DIR": str(self.place.folder),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
        }
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=PROJECT,
            stdout=output,
            env=os.environ | variables,
        )

    def fork(self, what: str, path: Path) -> int:
        """Run a command in a fork, which is at work at once; return its process."""
        close_connections()
        if pid := os.fork():
            return pid
        code = 1
        try:
            settings.SECRET_KEY_FALLBACKS = next_secrets(self.place.folder)
            settings.SECRET_KEY = (self.place.folder / "secret_key").read_text().strip()
            if what == "backup":
                take_backup(path)
            else:
                restore(path, examine(path))
            code = 0
        finally:
            os._exit(code)

    def seconds_of(self, what: str, path: Path) -> float:
        """Return how long a command takes that isn't killed."""
        began = time.monotonic()
        _, status = os.waitpid(self.fork(what, path), 0)
        assert status == 0
        return time.monotonic() - began

    def is_old_or_new(self) -> str:
        """Check that the place is one of both, and return which."""
        rows, files = rows_of(self.place.name), files_of(self.place.files)
        is_new = rows == self.new[0]
        assert is_new or rows == self.old[0], rows.items() - self.new[0].items()
        expected: Mapping[str, str] = (self.new if is_new else self.old)[1]
        assert expected.items() <= files.items()
        assert files.keys() <= self.new[1].keys() | self.old[1].keys()  # nobody's who was deleted
        assert self.second_factor_works()
        return "new" if is_new else "old"

    def second_factor_works(self) -> bool:
        secret = (self.place.folder / "secret_key").read_text().strip()
        with override_settings(SECRET_KEY=secret, SECRET_KEY_FALLBACKS=next_secrets(self.place.folder)):
            found = Authenticator.objects.get(user=User.objects.get(username="ada"))
            works = SecondFactorAdapter().decrypt(found.data["secret"]) == SECRET
        close_connections()
        return works

    def restore_again(self) -> None:
        process = self.start("restore", str(self.archive))
        assert process.wait() == 0
        assert self.is_old_or_new() == "new"
        assert not (self.place.folder / "secret_key.next").exists()

    def secret_is_new(self) -> bool:
        """Return whether links of before are invalid."""
        secret: str = (self.place.folder / "secret_key").read_text()
        return secret.strip() != self.secret


@pytest.fixture
def stage(place: SimpleNamespace) -> Stage:
    return Stage(place)


@pytest.mark.parametrize(("when", "step"), sample_of_day(POINTS["restore"], of_each=7))
def test_a_restore_that_is_killed_at_a_step(stage: Stage, when: str, step: str) -> None:
    process = stage.start("restore", str(stage.archive), when, step)
    assert process.wait() == -9
    is_after_the_switch = step.endswith("use_next_secret") or (when, step) == ("after", "restoring._switch")
    assert stage.is_old_or_new() == ("new" if is_after_the_switch else "old")
    assert stage.start("start").wait() == 0
    assert stage.is_old_or_new() == ("new" if is_after_the_switch else "old")
    assert stage.secret_is_new() == is_after_the_switch
    if is_after_the_switch:
        assert not (stage.place.folder / "secret_key.next").exists()
    stage.restore_again()


def test_a_restore_begun_anew_keeps_the_key_of_the_one_that_was_killed(stage: Stage) -> None:
    """The restored database of a restore that was killed after the swap is the next one's former database."""
    assert stage.start("restore", str(stage.archive), "after", "restoring._switch").wait() == -9
    waiting = (stage.place.folder / "secret_key.next").read_text()
    time.sleep(1)  # names have seconds
    stage.restore_again()
    kept = {path.read_text() for path in stage.place.folder.glob("secret_key.before_*")}
    assert kept == {stage.secret, waiting}
    assert (stage.place.folder / "secret_key").read_text() not in kept


@pytest.mark.parametrize("commands", [[WEB], [WORKER], [WEB, WORKER]], ids=["web", "worker", "both at once"])
def test_sage_starts_with_the_key_of_a_restore_that_was_killed(
    stage: Stage, commands: Sequence[Sequence[str]]
) -> None:
    assert stage.start("restore", str(stage.archive), "after", "restoring._switch").wait() == -9
    waiting = (stage.place.folder / "secret_key.next").read_text()
    processes = [stage.run("manage.py", *command, output=subprocess.PIPE) for command in commands]
    try:
        for process in processes:
            assert process.stdout is not None
            assert any(b"answers at" in line or b"waits for jobs" in line for line in process.stdout)
        assert (stage.place.folder / "secret_key").read_text() == waiting
    finally:
        for process in processes:
            process.terminate()
            process.communicate()


@pytest.mark.parametrize(("when", "step"), sample_of_day(POINTS["backup"], of_each=8))
def test_a_backup_that_is_killed_at_a_step(stage: Stage, when: str, step: str) -> None:
    path = stage.place.folder / "two.tar"
    process = stage.start("backup", str(path), when, step)
    assert process.wait() == -9
    assert path.exists() == step.endswith("_note")
    if path.exists():
        examine(path)
    assert stage.is_old_or_new() == "old"
    assert stage.start("backup", str(stage.place.folder / "three.tar")).wait() == 0
    examine(stage.place.folder / "three.tar")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_kills_at_any_moment(stage: Stage, batch: int) -> None:
    """In the long form a hundred restores and backups, spread over all of the time that they take.

    Each restore is of the archive that isn't there, so each kill leaves one or the other.
    """
    archives = {"old": stage.other, "new": stage.archive}
    seconds = {"restore": stage.seconds_of("restore", stage.archive)}
    seconds["backup"] = stage.seconds_of("backup", stage.place.folder / "timed.tar")
    assert stage.is_old_or_new() == "new"
    there, left = "new", Counter[bool]()
    for number in range(KILLS):
        share = random.random() if KILLS == 1 else LONGER * (batch + number * BATCHES) / (KILLS * BATCHES)
        wanted = "old" if there == "new" else "new"
        _kill_after(stage.fork("restore", archives[wanted]), share * seconds["restore"])
        there = stage.is_old_or_new()
        left[there == wanted] += 1
        path = stage.place.folder / f"killed-{number}.tar"
        _kill_after(stage.fork("backup", path), share * seconds["backup"])
        if path.exists():
            examine(path)
            path.unlink()
        assert stage.is_old_or_new() == there
    print(f"restored: {left[True]}, not: {left[False]}")  # noqa: T201 - shown by -rP
    if KILLS > 1:
        assert left[True]
        assert left[False]
    stage.restore_again()


def _kill_after(pid: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
