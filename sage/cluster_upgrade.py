"""Upgrades the embedded PostgreSQL's cluster to this version's, in a second folder.

`pg_upgrade` copies it into the folder `upgraded`. There it gets its statistics and checksums, and is compared
with the present one; only then both swap places (`cluster_folders`). So whenever it is killed, the former
cluster or the new one is there, whole, and running it again begins anew or does what is left.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from coaching.files.former_clusters import LOGS, version_of
from sage.cluster_folders import ClusterFolders
from sage.cluster_servers import LoneServer, end_programs
from sage.env import StartError
from sage.ordinary_role import ADMIN
from sage.postgres_account import child_environment, grant_access, system_account
from sage.postgres_programs import FORMER_VERSION, POSTGRES_VERSION, programs_folder
from sage.postgres_server import DATABASE, ROLE

SPARE_BYTES = 200 << 20
"""What a new cluster takes besides its copied tables."""
_SCRATCH, _TRUST = "sage_upgrade", "trust.conf"
_TOLD_LINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What the new cluster must have, too. `superuser` is the role that made the cluster."""

    superuser: str
    has_checksums: bool
    rows: Mapping[tuple[str, str, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUpgrade:
    """One upgrade. `back_up` is called while the former server runs, `say` with what happens next."""

    data_dir: Path
    password: str
    back_up: Callable[[], None]
    say: Callable[[str], None]
    is_lasting: bool = True

    @property
    def folders(self) -> ClusterFolders:
        return ClusterFolders(self.data_dir)

    def run(self) -> Mapping[tuple[str, str, str], int] | None:
        """Upgrade, and return how many rows each table has; None if only the swap had to be finished.

        Raises `StartError`, and then the former cluster is the present one as before, unless the swap itself
        was broken off: the next run does what is left of it.
        """
        with self._server(self.folders.present).alone():
            if self.folders.finish_swap():
                return None
            self._check()
            end_programs(self.data_dir)
            shutil.rmtree(self.folders.upgraded, ignore_errors=True)  # what a killed run has left
            self._check_room()
            try:
                former = self._prepare()
                self.folders.swap()
            except BaseException as error:
                end_programs(self.data_dir)
                if version_of(self.folders.present) == FORMER_VERSION:  # else the swap has begun
                    shutil.rmtree(self.folders.upgraded, ignore_errors=True)
                if isinstance(error, psycopg.Error | OSError):
                    raise StartError(f"the upgrade failed ({_reason(error)}).") from error
                raise
        shutil.rmtree(self.data_dir / LOGS, ignore_errors=True)
        return former.rows

    def _prepare(self) -> Former:
        """Make the new cluster, and compare it."""
        present = self._server(self.folders.present, version=FORMER_VERSION)
        present.stop()
        self.say("Backing up the database.")
        former = self._read(present)
        self._make_empty(former)
        with self._signing_in(present, former.superuser):
            self.say("Checking it with pg_upgrade.")
            self._pg_upgrade(former, "--check")
            self.say("Copying it with pg_upgrade.")
            self._pg_upgrade(former, *self._no_sync())
        self.say("Gathering statistics, and comparing both.")
        self._complete(former)
        upgraded = self._server(self.folders.upgraded)
        with upgraded.running():
            rows = upgraded.count_rows()
        if rows != former.rows:
            raise StartError(f"the new database has other rows in {_first_difference(rows, former.rows)}.")
        return former

    def _server(self, folder: Path, *options: str, version: int = POSTGRES_VERSION) -> LoneServer:
        return LoneServer(
            folder=folder,
            password=self.password,
            version=version,
            options=options,
            is_lasting=self.is_lasting,
        )

    def _no_sync(self) -> list[str]:
        return [] if self.is_lasting else ["--no-sync"]

    # --- before anything is done ------------------------------------------------------------------

    def _check(self) -> None:
        folders = self.folders
        version = version_of(folders.present)
        if version is None:
            raise StartError(f"there is no database to upgrade in {self.data_dir}.")
        if version != FORMER_VERSION:
            raise StartError(f"there is nothing to upgrade: {folders.present} is of PostgreSQL {version}.")
        if folders.present.is_mount():
            raise StartError(
                f"{folders.present} is a mount point, so nothing can take its place: mount the whole data "
                "folder instead."
            )
        if folders.former.exists():
            raise StartError(f"{folders.former} is there already: move it away, or delete it.")
        owner, account = folders.present.stat().st_uid, system_account()
        if owner != (account.pw_uid if account else os.geteuid()):
            raise StartError(
                f"{folders.present} belongs to {_user_name(owner)}: run this command as that user, or change "
                "the owner to the user that PostgreSQL runs as here."
            )

    def _check_room(self) -> None:
        folders = self.folders
        free, needed = shutil.disk_usage(self.data_dir).free, 2 * _size_of(folders.present) + SPARE_BYTES
        if free < needed:
            raise StartError(
                f"there are {free >> 20:,} MB left in {self.data_dir}, and a backup and a second copy need "
                f"{needed >> 20:,} MB: make room first."
            )

    def _read(self, present: LoneServer) -> Former:
        with present.running():
            with present.connect("postgres") as session:
                found = session.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE])
                if found.fetchone() is None:
                    raise StartError(f"{present.folder} has no database named {DATABASE}.")
                superuser = _value(session, "SELECT rolname FROM pg_roles WHERE oid = 10")
                has_checksums = _value(session, "SHOW data_checksums") == "on"
            self.back_up()
            return Former(superuser=superuser, has_checksums=has_checksums, rows=present.count_rows())

    # --- the new cluster --------------------------------------------------------------------------

    def _make_empty(self, former: Former) -> None:
        """Make the new cluster as `pg_upgrade` wants it, and files of which only the upgrade knows."""
        checksums = "--data-checksums" if former.has_checksums else "--no-data-checksums"
        self._server(self.folders.upgraded).make_empty(checksums, superuser=former.superuser)
        self._scratch.mkdir(mode=0o700)
        (self._scratch / _TRUST).write_text("local all all trust\n")
        if account := system_account():
            for path in (self._scratch, self._scratch / _TRUST):
                os.chown(path, account.pw_uid, account.pw_gid)

    @property
    def _scratch(self) -> Path:
        return self.folders.upgraded / _SCRATCH

    @contextmanager
    def _signing_in(self, present: LoneServer, superuser: str) -> Iterator[None]:
        """Let the superuser of Sage's clusters sign in, as `pg_upgrade` must. It has no password."""
        if superuser != ADMIN:
            yield
            return
        present.execute_alone(f"ALTER ROLE {ADMIN} LOGIN")
        try:
            yield
        except BaseException:
            end_programs(self.data_dir)  # a server that a killed pg_upgrade has left
            shutil.rmtree(self.folders.upgraded, ignore_errors=True)  # the disk may be full
            raise
        finally:
            present.execute_alone(f"ALTER ROLE {ADMIN} NOLOGIN")

    def _pg_upgrade(self, former: Former, *options: str) -> None:
        """Run it in the scratch folder. Its servers let their own user connect, and nobody else."""
        folders, trust = self.folders, f"-c hba_file={_TRUST}"
        old, new = programs_folder(FORMER_VERSION), programs_folder()
        program = new / "pg_upgrade"
        arguments = [
            *("-b", str(old), "-B", str(new), "-d", str(folders.present), "-D", str(folders.upgraded)),
            *("-o", trust, "-O", trust, "-p", "5432", "-P", "5432", "-s", str(folders.upgraded)),
            *("-U", former.superuser, "--copy", "--no-statistics", *options),
        ]
        command, folder = [str(program), *arguments], self._scratch
        if account := system_account():
            view = grant_access(account, self.data_dir, old / "postgres", new / "postgres")
            command, folder = view.command(program, *arguments, folder=folder), Path("/")
        try:
            done = subprocess.run(
                command,
                env=child_environment(),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
        except BaseException:
            end_programs(self.data_dir)
            raise
        if done.returncode:
            self._tell_failure(done.stdout)

    def _tell_failure(self, output: str) -> None:
        logs = self.data_dir / LOGS
        shutil.rmtree(logs, ignore_errors=True)
        if (self.folders.upgraded / LOGS).is_dir():
            (self.folders.upgraded / LOGS).rename(logs)
        lines = [line.rstrip() for line in output.splitlines() if line.strip()][-_TOLD_LINES:]
        told = "\n".join(f"  {line}" for line in lines)
        raise StartError(f"pg_upgrade failed: the database is as it was. Its logs are in {logs}.\n{told}")

    def _complete(self, former: Former) -> None:
        """Do as the superuser what `pg_upgrade` leaves to its user, and let nobody sign in as one."""
        trust = f"hba_file={self._scratch / _TRUST}"
        upgraded = self._server(self.folders.upgraded, trust, "unix_socket_permissions=0700")
        with upgraded.running():
            for database in upgraded.databases():
                with upgraded.connect(database, user=former.superuser) as session:
                    _update_extensions(session)
                    session.execute("ANALYZE")
            with upgraded.connect("postgres", user=former.superuser) as session:
                _set_passwords(session, self.password)
        shutil.rmtree(self._scratch)
        if not former.has_checksums:
            upgraded.run("pg_checksums", "--enable", *self._no_sync())


def _update_extensions(session: psycopg.Connection[Any]) -> None:
    found = session.execute(
        "SELECT name FROM pg_available_extensions WHERE installed_version <> default_version"
    )
    for (name,) in found.fetchall():
        session.execute(sql.SQL("ALTER EXTENSION {} UPDATE").format(sql.Identifier(name)))


def _set_passwords(session: psycopg.Connection[Any], password: str) -> None:
    """Give Sage's role its password, which an older cluster may not have checked, and the superuser none."""
    described = {"role": sql.Identifier(ROLE), "password": sql.Literal(password)}
    session.execute(sql.SQL("ALTER ROLE {role} PASSWORD {password}").format(**described))
    if session.info.user != ROLE:
        superuser = sql.Identifier(session.info.user)
        session.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(superuser))


def _value(session: psycopg.Connection[Any], query: str) -> str:
    row = session.execute(query).fetchone()
    return str(row[0]) if row else ""


def _first_difference(
    one: Mapping[tuple[str, str, str], int], other: Mapping[tuple[str, str, str], int]
) -> str:
    name = min(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    return f"{'.'.join(name)} ({one.get(name, 'no table')} for {other.get(name, 'no table')})"


def _size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
