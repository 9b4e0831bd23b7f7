"""`manage.py classify PATH… --user U`: the document pipeline on files and folders."""

import asyncio
import hashlib
import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from coaching.engine.errors import UpstreamError
from coaching.files.errors import QuotaReached, StorageFailed
from coaching.library.documents.intake import Destination, destination_of, refusal_of_size, refuse, take_in
from coaching.library.documents.picture_metadata import MetadataStays, without_metadata
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.batches import answer_in_batches
from coaching.library.pipeline.direct import read_directly, take_up
from coaching.management.people import user_named
from coaching.model_client.connection import ModelConnection
from coaching.models import UNFINISHED_STATES, Client, Document, DocumentSource, DocumentState, Project

BAR = 30
NOT_STORED = "It couldn’t be stored. Run the same command again."
NOT_READ = "It wasn’t read yet. Run the same command again: it goes on where it stopped."
BAD_ARGUMENTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A file with its document, or with the reason why there is none."""

    path: Path
    document_id: int | None = None
    state: DocumentState = DocumentState.FAILED
    reason: str = ""


class Command(BaseCommand):
    help = (
        "Read documents, decide what they are, and file them for a person. Prints a line for each. Safe to "
        "interrupt: run it again and it goes on. Exit code 1 if some couldn't be read."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders")
        parser.add_argument("--user", required=True, metavar="U", help="a username, an address, or a number")
        parser.add_argument("--client", metavar="C", help="an id or the exact name; the person without it")
        parser.add_argument("--project", metavar="P", help="an id or the exact name")
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")
        parser.add_argument(
            "--batch", action="store_true", help="at half the price; the answers can take a day"
        )
        parser.add_argument("--no-tools", action="store_true", help="offer the model no tools")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = user_or_exit(options["user"])
        destination = find_destination(user, client=options["client"], project=options["project"])
        paths = list(files_in(options["paths"]))
        try:
            taken = take_files(user, paths, destination)
            ids = [each.document_id for each in taken if each.document_id is not None]
            bar = _Bar(len(ids), is_shown=sys.stderr.isatty())
            try:
                run = _read(
                    user.pk, ids, bar, is_offered_tools=not options["no_tools"], is_batch=options["batch"]
                )
                asyncio.run(run)
            except UpstreamError as error:
                self.stderr.write(f"The model can't be reached: {error.reason}.")
            finally:
                bar.close()
        except KeyboardInterrupt:
            raise CommandError(NOT_READ, returncode=1) from None
        found = Document.of(user.pk).in_bulk(ids)
        rows = [row_of(each, found.get(each.document_id or 0)) for each in taken]
        for row in rows:
            self.stdout.write(json.dumps(row, ensure_ascii=False) if options["json"] else in_words(row))
        if any(row["state"] in (DocumentState.FAILED, DocumentState.REFUSED) for row in rows):
            sys.exit(1)


async def _read(
    user_id: int, ids: Sequence[int], bar: "_Bar", *, is_offered_tools: bool, is_batch: bool
) -> None:
    models = ModelConnection(is_background=True)
    services = Services(client=models.client, is_offered_tools=is_offered_tools)
    try:
        if is_batch:
            client = await models.batch_client()
            await answer_in_batches(user_id=user_id, document_ids=ids, services=services, client=client)
        await read_directly(user_id=user_id, document_ids=ids, services=services, progress=bar.show)
    finally:
        await models.close()


def user_or_exit(name: str) -> User:
    """Return the person. Raises `CommandError` for bad arguments."""
    try:
        return user_named(name)
    except CommandError as error:
        raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error


def find_destination(user: User, *, client: str | None, project: str | None) -> Destination:
    """Return the destination with these ids or exact names. Raises `CommandError`."""
    client_id = _one(Client.of(user.pk).filter(_named(client)), "client", client) if client else None
    projects = Project.of(user.pk).filter(_named(project)) if project else None
    if projects is not None and client_id is not None:
        projects = projects.filter(client_id=client_id)
    project_id = _one(projects, "project", project) if projects is not None else None
    return destination_of(
        user_id=user.pk, client_id=client_id, project_id=project_id, source=DocumentSource.COMMAND
    )


def _named(name: str) -> Q:
    is_number = name.isascii() and name.isdigit() and len(name) < 18
    return Q(name=name) | Q(id=int(name)) if is_number else Q(name=name)


def _one(rows: Any, what: str, name: str | None) -> int:
    ids = list(rows.values_list("id", flat=True)[:2])
    if len(ids) != 1:
        said = "is no" if not ids else "is more than one"
        raise CommandError(f"{name} {said} {what} of this person.", returncode=BAD_ARGUMENTS)
    return int(ids[0])


def files_in(paths: Sequence[str]) -> Iterator[Path]:
    """Yield the files of the paths, folders from top to bottom; hidden files and links are left out.

    Raises `CommandError` for a path that doesn't exist.
    """
    for given in map(Path, paths):
        if given.is_file():
            yield given
        elif given.is_dir():
            inside = sorted(given.rglob("*"))
            hidden = [path for path in inside if path.name.startswith(".") or path.is_symlink()]
            yield from (path for path in inside if path.is_file() and not {path, *path.parents} & set(hidden))
        else:
            raise CommandError(f"There is no file or folder {given}.", returncode=BAD_ARGUMENTS)


def take_files(user: User, paths: Sequence[Path], destination: Destination) -> Sequence[_Taken]:
    """Store files, each as a document of its own."""
    taken: list[_Taken] = []
    for path in paths:
        ids = [each.document_id for each in taken if each.document_id is not None]
        taken.append(take_file(user, path, destination, taken=ids))
    return taken


def take_file(user: User, path: Path, destination: Destination, *, taken: Sequence[int]) -> _Taken:
    """Store a file as an upload does, unless an earlier run has done so and didn't finish."""
    try:
        size = path.stat().st_size
        if reason := refusal_of_size(size):
            refused = refuse(
                user_id=user.pk, name=path.name, size=size, destination=destination, reason=reason
            )
            return _Taken(path=path, document_id=refused.pk)
        data = path.read_bytes()
    except OSError as error:
        return _Taken(path=path, reason=f"The file can’t be opened: {error.strerror}.")
    document = _taken_before(user, data, destination, taken=taken)
    try:
        document = document or take_in(user_id=user.pk, name=path.name, data=data, destination=destination)
    except QuotaReached as refusal:
        return _Taken(path=path, state=DocumentState.REFUSED, reason=str(refusal))
    except StorageFailed:
        return _Taken(path=path, reason=NOT_STORED)
    return _Taken(path=path, document_id=document.pk)


def _taken_before(
    user: User, data: bytes, destination: Destination, *, taken: Sequence[int]
) -> Document | None:
    try:
        digest = hashlib.sha256(without_metadata(data)).hexdigest()
    except MetadataStays:
        return None
    return take_up(user_id=user.pk, sha256=digest, destination=destination, taken=taken)


def row_of(taken: _Taken, document: Document | None) -> Mapping[str, Any]:
    """Return what is printed of a file. One that wasn't read yet counts as failed."""
    state, reason = taken.state, taken.reason or NOT_READ
    if document is not None and document.state not in UNFINISHED_STATES:
        state, reason = DocumentState(document.state), document.reason
    elif document is not None and document.reason:
        reason = f"{document.reason} {NOT_READ}"
    reason = " ".join(reason.splitlines())
    return {
        "path": str(taken.path),
        "state": state.value,
        "fileType": document.file_type if document else "",
        "category": document.category if document else "",
        "folder": document.folder if document else "",
        "level": document.level if document else "",
        "confidence": document.confidence if document else None,
        "why": document.why if document else "",
        "reason": reason,
    }


def in_words(row: Mapping[str, Any]) -> str:
    share = f" ({row['confidence']:.0%})" if row["confidence"] is not None else ""
    where = f"{row['folder']}: {row['fileType']}{share}" if row["fileType"] else ""
    said = " · ".join(filter(None, [where, row["reason"] or row["why"]]))
    return f"{row['state']:<9}  {row['path']}  {said}"


class _Bar:
    """A progress bar on the terminal."""

    def __init__(self, total: int, *, is_shown: bool) -> None:
        self._total = total
        self._is_shown = is_shown and total > 0

    def show(self, ended: Sequence[Document]) -> None:
        if not self._is_shown:
            return
        done = round(BAR * len(ended) / self._total)
        counts = Counter(document.state for document in ended)
        said = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        bar = "█" * done + "░" * (BAR - done)
        sys.stderr.write(f"\r{bar} {len(ended)} of {self._total}  {said}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        if self._is_shown:
            sys.stderr.write("\n")
