"""A Dovecot of the tests: TLS with a certificate of its own, and a mailbox for whoever signs in.

Mails are written into the mailbox's folder, which takes no time and keeps their headers as they are.
"""

import os
import shutil
import socket
import ssl
import subprocess
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

from coaching.inbox.place import InboxPlace, place_of

PROGRAM = "dovecot"
PASSWORD = "a password with / and @"
SECONDS = 60.0
DOMAIN = "in.example"
_NOBODY = 65534
_CONFIGURATION = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
mail_location = maildir:~/Maildir
first_valid_uid = 1
mail_max_userip_connections = 0
auth_mechanisms = plain
auth_failure_delay = 0
disable_plaintext_auth = yes
ssl = required
ssl_cert = <{folder}/certificate.pem
ssl_key = <{folder}/key.pem
default_login_user = {login}
default_internal_user = {internal}
default_internal_group = {group}
{capability}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
"""


class Dovecot:
    """A running server. `capability` replaces what it says that it can do."""

    def __init__(self, folder: Path, *, capability: str = "") -> None:
        self.folder = folder
        self._numbers = count(1)
        self._mails = count(1)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        is_root = os.geteuid() == 0
        self._owner = (_NOBODY, _NOBODY) if is_root else (os.geteuid(), os.getegid())
        (folder / "mail").mkdir()
        os.chown(folder / "mail", *self._owner)
        folder.chmod(0o755)
        _make_certificate(folder)
        me, group = _names()
        said = {
            "login": "dovenull" if is_root else me,
            "internal": "dovecot" if is_root else me,
            "group": "dovecot" if is_root else group,
            "uid": self._owner[0],
            "gid": self._owner[1],
            "port": self._port,
            "password": PASSWORD.replace(" ", "_"),
            "capability": f"imap_capability = {capability}" if capability else "",
        }
        (folder / "dovecot.conf").write_text(_CONFIGURATION.format(folder=folder, **said))
        self._process = subprocess.Popen([PROGRAM, "-F", "-c", folder / "dovecot.conf"])

    @staticmethod
    def is_installed() -> bool:
        return shutil.which(PROGRAM) is not None

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    def wait(self) -> None:
        """Return once it answers."""
        deadline = time.monotonic() + SECONDS
        context = ssl.create_default_context(cafile=str(self.certificate))
        while True:
            try:
                plain = socket.create_connection(("127.0.0.1", self._port), timeout=5)
                with context.wrap_socket(plain, server_hostname="localhost") as secure:
                    assert secure.recv(100).startswith(b"* OK")
                    return
            except OSError:
                log = self.folder / "log"
                assert time.monotonic() < deadline, log.read_text() if log.exists() else "it didn't start"
                assert self._process.poll() is None, log.read_text() if log.exists() else "it has ended"
                time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)

    def new_place(self) -> InboxPlace:
        """Return a new, empty mailbox."""
        return place_of(self.new_url())

    def new_url(self) -> str:
        user, password = f"sage{next(self._numbers)}@{DOMAIN}", PASSWORD.replace(" ", "_")
        for name in ("cur", "new", "tmp"):
            (self._maildir(user) / name).mkdir(parents=True)
        for place in (self._maildir(user).parent, self._maildir(user), *self._maildir(user).iterdir()):
            os.chown(place, *self._owner)
        return f"imaps://{quote(user, safe='')}:{quote(password, safe='')}@localhost:{self._port}/INBOX"

    def deliver(self, place: InboxPlace, mail: bytes, *, hole: int = 0) -> None:
        """Put a mail with lines that end with CRLF into the inbox. `hole`: bytes at its end without space."""
        number, size = next(self._mails), len(mail) + hole
        file = (
            self._maildir(place.user) / "new" / f"{1_700_000_000 + number}.M{number}.test,S={size},W={size}"
        )
        file.write_bytes(mail)
        os.truncate(file, size)
        os.chown(file, *self._owner)

    def mails_in(self, place: InboxPlace, folder: str = "INBOX") -> list[bytes]:
        """Return the mails of a folder, in any order."""
        inside = self._maildir(place.user) / ("" if folder == "INBOX" else f".{folder}")
        files = [file for name in ("cur", "new") for file in (inside / name).glob("*")]
        return [file.read_bytes() if file.stat().st_size < 10**7 else b"large" for file in files]

    def _maildir(self, user: str) -> Path:
        return self.folder / "mail" / user / "Maildir"


def _make_certificate(folder: Path) -> None:
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    files = ("-keyout", folder / "key.pem", "-out", folder / "certificate.pem")
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650")
    subprocess.run(["openssl", "req", *kind, *subject, *files], check=True, capture_output=True)


def _names() -> tuple[str, str]:
    """Return the names of this process's user and group."""
    import grp  # noqa: PLC0415 - not on every system
    import pwd  # noqa: PLC0415

    return pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
