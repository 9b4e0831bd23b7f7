"""A PostgreSQL of its own for `--facts`: the modules that need it are imported when it is there."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import django
from django.core.management import call_command

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names


def facts_of_files(clones: Path, count: int) -> Sequence[str]:
    """Read files, store the facts that a model notes of them, and return what was found."""
    folder = Path(tempfile.mkdtemp(prefix="sage-strangers-"))
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        said: Sequence[str] = asyncio.run(
            import_module("tests.bench.strangers.stored_facts").run(clones, count)
        )
        return said
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)
