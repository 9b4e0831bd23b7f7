"""Clusters of PostgreSQL 16, as versions of Sage before 18 made them, and what is compared of them."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from coaching.recall.search import search
from coaching.recall.vectors import make_room_for_vectors, read_unencoded, store_vectors
from sage.backups.databases import close_connections, loading
from sage.cluster_servers import LoneServer
from sage.data_folder import read_or_make_secret
from sage.embedded_postgres import EmbeddedPostgres
from sage.ordinary_role import make_ordinary
from sage.postgres_account import system_account
from sage.postgres_programs import FORMER_VERSION, programs_folder
from sage.postgres_server import DATABASE, ROLE
from tests.bench.recall.coach_set import ASKED_AT, USERNAME, load_coach_set
from tests.bench.recall.seed import store_session
from tests.recall.concepts import ConceptEncoder

ENCODER = ConceptEncoder()
QUESTIONS = ("How did I sleep?", "Do I have any debt?", "Which dog?", "my children", "work", "sister", "run")
WRITTEN = ("coaching_departurekey",)
"""Tables that a backup writes to."""

_TABLES = """
    SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace ORDER BY relname
"""
_HASH = "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM {} AS t"


class OlderServer(LoneServer):
    """A server of 16, by default with the programs that are installed with 18's."""

    installed: Path | None = None

    def _programs(self) -> Path:
        return self.installed or super()._programs()

    def make(self) -> None:
        """Make a cluster as Sage did: our role, our password."""
        self._begin(["--username", ROLE, "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale"])
        with self.running():
            with self.connect("postgres") as session:
                session.execute(f"CREATE DATABASE {DATABASE}")
            with self.connect(DATABASE) as session:
                session.execute("CREATE EXTENSION vector")
                make_ordinary(session, role=ROLE, database=DATABASE, password=self.password)

    def make_trusting(self) -> None:
        """Make one as the package's own Python does: it trusts everybody, `postgres` is its superuser."""
        arguments = ["--auth=trust", "--auth-local=trust", "--encoding=utf8", "--no-locale", "-U", "postgres"]
        self._begin(arguments)
        self._run("pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", f"-h '' -k {self.folder}")
        with self.connect("postgres", user="postgres") as session:
            session.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB")
            session.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
        self.stop()

    def _begin(self, arguments: Sequence[str]) -> None:
        self.folder.mkdir(mode=0o700, parents=True)
        password = self.folder.with_name("password of a test")
        password.write_text(self.password)
        if account := system_account():
            for path in (self.folder, password):
                os.chown(path, account.pw_uid, account.pw_gid)
        done = self._run("initdb", *arguments, "--pwfile", str(password), "--no-sync")
        assert done.returncode == 0, done.stderr
        password.unlink()


def older_server(data_dir: Path, *, name: str = "postgres", installed: Path | None = None) -> OlderServer:
    """Return the server of 16 of a data folder, which isn't durable."""
    server = OlderServer(
        folder=data_dir / name,
        password=read_or_make_secret(data_dir / "database_password"),
        version=FORMER_VERSION,
        is_lasting=False,
    )
    server.installed = installed
    return server


def copy_test_database(server: EmbeddedPostgres, source: str) -> None:
    """Load a migrated database, named by its address, into the server's."""
    dump = [str(programs_folder() / "pg_dump"), "--format=custom", "--no-owner", "--no-privileges", source]
    copied = subprocess.run(dump, check=True, capture_output=True).stdout
    with on_server(server), loading(DATABASE, FORMER_VERSION) as program:
        program.write(copied)


@contextmanager
def on_server(server: EmbeddedPostgres) -> Iterator[None]:
    """Let Django use a server's database, in this process."""
    described = connections.settings[DEFAULT_DB_ALIAS]
    former = {name: described[name] for name in ("HOST", "NAME", "USER", "PASSWORD", "PORT")}
    own = {
        "HOST": str(server.folder),
        "NAME": DATABASE,
        "USER": ROLE,
        "PASSWORD": server.password,
        "PORT": "",
    }
    close_connections()
    described.update(own)
    try:
        yield
    finally:
        close_connections()
        described.update(former)


def fill(*, messages: int) -> None:
    """Store a person's conversations, with vectors, and as many messages of others with the same words."""
    load_coach_set()
    nora = User.objects.get(username=USERNAME)
    assert make_room_for_vectors()
    passages = read_unencoded(nora.pk, model=ENCODER.key, limit=10_000)
    begun = ENCODER.begin([passage.text for passage in passages])
    assert begun
    assert store_vectors(nora.pk, passages, begun.result(), model=ENCODER.key) == len(passages)
    words = [passage.text for passage in passages]
    for number in range(messages // 1000):
        user = User.objects.create_user(f"person-{number}", password=None)
        said = [
            (str(place), place % 2 == 0, words[(place * 7 + number) % len(words)]) for place in range(1000)
        ]
        store_session(user, said, started=ASKED_AT)


def recalled(server: EmbeddedPostgres) -> Sequence[object]:
    """Return what is found for each question, by words and by meaning, of two people, with all values."""
    with on_server(server):
        people = User.objects.filter(username__in=[USERNAME, "person-0"]).order_by("pk")
        return [
            (user.username, question, encoder is None, hit)
            for user in people
            for question in QUESTIONS
            for encoder in (None, ENCODER)
            for hit in search(question, user_id=user.pk, now=ASKED_AT, limit=10, encoder=encoder)
        ]


def rows(server: LoneServer) -> Mapping[str, str]:
    """Return a hash over all rows of each table."""
    with server.connect(DATABASE) as session:
        return {name: _hash_of(session, name) for (name,) in session.execute(_TABLES).fetchall()}


def _hash_of(session: psycopg.Connection, name: str) -> str:
    if name in WRITTEN:
        return ""
    row = session.execute(sql.SQL(_HASH).format(sql.Identifier(name))).fetchone()
    assert row is not None
    return str(row[0])


def copy_cluster(source: Path, target: Path) -> None:
    """Copy a data folder with its owners."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "--archive", str(source), str(target)], check=True)
