"""Mails at shutdown: a mail server that hangs doesn't keep the process alive."""

import time
from pathlib import Path

from tests.sage.processes import started

MAILS = 100
SENDING_SECONDS = 0.4
LAST_SECONDS = 1.0
PROGRAM = f"""
import time
import django
django.setup()
from sage.mail import run_after_response, send_last

def send(number):
    time.sleep({SENDING_SECONDS})
    print("sent", number, flush=True)

def sign_up():
    run_after_response(lambda: send("of a sign-up"))

run_after_response(sign_up)
for number in range({{mails}}):
    run_after_response(lambda number=number: send(number))
print("ends", flush=True)
send_last({{seconds}})
"""


def test_a_process_ends_although_mails_wait_for_a_slow_server(tmp_path: Path) -> None:
    with started(
        "-c", PROGRAM.format(mails=MAILS, seconds=LAST_SECONDS), environment={"SAGE_DATA_DIR": str(tmp_path)}
    ) as process:
        process.wait_for_line(lambda line: line.startswith("ends"))
        began = time.monotonic()
        assert process.wait() == 0
        assert time.monotonic() - began < LAST_SECONDS + 5, "all would take half a minute"
        sent = process.output.count("sent")
        assert sent < MAILS / 2
        assert "mail_dropped" in process.output


def test_a_process_that_ends_sends_the_mails_that_it_can(tmp_path: Path) -> None:
    with started(
        "-c", PROGRAM.format(mails=1, seconds=30), environment={"SAGE_DATA_DIR": str(tmp_path)}
    ) as process:
        assert process.wait() == 0
        assert process.output.count("sent") == 2
        assert "mail_dropped" not in process.output
