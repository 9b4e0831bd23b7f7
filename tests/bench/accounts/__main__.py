"""Prints how long sign-in, sign-up and reset take for known and for unknown addresses, interleaved.

A real `up` with its own PostgreSQL, Django's real password hashing and mails written to a folder.
"""

import argparse
import http.client
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.sage.processes import started

PASSWORD = "correct-horse-battery-staple"
BAR = 0.10
FORMS = ("sign-in", "reset", "sign-up")
WARM_UP = 2
PAUSE_SECONDS = 0.4
"""Between two requests, so that work after a response doesn't slow down the next one."""
START_SECONDS = 120
MAIL_SECONDS = 30


@dataclass(slots=True)
class Times:
    """Milliseconds per form. The control is a second unknown address, which shows the noise."""

    known: list[float] = field(default_factory=list)
    unknown: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)

    @property
    def difference(self) -> float:
        """The difference between the medians of known and unknown, as a share of the larger."""
        return _apart(self.known, self.unknown)

    @property
    def noise(self) -> float:
        """The difference between the medians of two unknown addresses."""
        return _apart(self.unknown, self.control)


def _apart(one: list[float], other: list[float]) -> float:
    medians = statistics.median(one), statistics.median(other)
    return (max(medians) - min(medians)) / max(medians)


class Browser:
    """Sends one form at a time, each as a new visitor."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host = f"localhost:{parts.port}"
        self._connection = http.client.HTTPConnection("localhost", parts.port or 80, timeout=60)

    def send(self, path: str, fields: dict[str, str]) -> tuple[int, str, float]:
        """Return status, Location and the milliseconds from the form's last byte to the answer's."""
        self._connection.request("GET", path)
        page = self._connection.getresponse()
        cookie = str(page.getheader("Set-Cookie")).partition(";")[0]
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.read().decode())
        assert token
        body = urlencode({"csrfmiddlewaretoken": token[1], **fields})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
        began = time.perf_counter()
        self._connection.request("POST", path, body, headers)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("Location") or "", (time.perf_counter() - began) * 1000


def confirmation_path(mails: Path, address: str) -> str:
    """Wait for the mail to an address, and return the path of its link."""
    deadline = time.monotonic() + MAIL_SECONDS
    while time.monotonic() < deadline:
        for mail in mails.glob("*.log") if mails.exists() else ():
            text = mail.read_text()
            if f"To: {address}" in text and (found := re.search(r"(/accounts/confirm-email/\S+/)", text)):
                return found[1]
        time.sleep(0.1)
    raise AssertionError(f"no mail to {address}")


def measure(browser: Browser, mails: Path, tries: int, forms: list[str]) -> dict[str, Times]:
    """Submit each form for a known and two unknown addresses in turn."""
    known = "known@example.org"
    sign_up = {"password1": PASSWORD, "password2": PASSWORD}
    browser.send("/accounts/signup/", {"email": known, **sign_up})
    status, _, _ = browser.send(confirmation_path(mails, known), {})
    assert status == 302, status
    found = {name: Times() for name in forms}
    for number in range(tries + WARM_UP):
        visitors = deque(
            {"known": known, "unknown": f"a{number}@example.org", "control": f"b{number}@example.org"}.items()
        )
        visitors.rotate(number)
        answers: dict[str, set[tuple[int, str]]] = {}
        for kind, email in visitors:
            fields = {
                "sign-in": ("/accounts/login/", {"login": email, "password": "wrong-password-9"}),
                "reset": ("/accounts/password/reset/", {"email": email}),
                "sign-up": ("/accounts/signup/", {"email": email, **sign_up}),
            }
            for name in forms:
                time.sleep(PAUSE_SECONDS)
                status, location, milliseconds = browser.send(*fields[name])
                answers.setdefault(name, set()).add((status, location))
                if number >= WARM_UP:
                    getattr(found[name], kind).append(milliseconds)
        assert all(len(given) == 1 for given in answers.values()), answers
    return found


def main() -> int:
    """Return the exit code: 1 if a pair of medians differs by more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=50)
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    given = parser.parse_args()
    tries: int = given.tries
    with tempfile.TemporaryDirectory(prefix="sage-") as folder:
        mails = Path(folder) / "mails"
        environment = {
            "SAGE_DATA_DIR": f"{folder}/data",
            "DJANGO_SETTINGS_MODULE": "tests.bench.accounts.settings",
            "EMAIL_URL": f"filemail:///{mails}",
        }
        with started("manage.py", "up", "--port", "0", "--no-demo", environment=environment) as process:
            line = process.wait_for_line(lambda text: "  open  " in text, START_SECONDS)
            found = measure(Browser(line.split()[1]), mails, tries, given.forms)
            process.end(signal.SIGTERM)
    for name, times in found.items():
        known, unknown = statistics.median(times.known), statistics.median(times.unknown)
        print(  # noqa: T201 - for whoever runs it
            f"{name:8} known {known:7.1f} ms  unknown {unknown:7.1f} ms  "
            f"{times.difference:6.1%} apart, of two unknown ones {times.noise:6.1%}  ({tries} tries each)"
        )
    return int(any(times.difference > BAR for times in found.values()))


if __name__ == "__main__":
    sys.exit(main())
