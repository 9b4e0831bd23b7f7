#!/usr/bin/env python
"""Django's command line. `manage.py up` starts everything."""

import os
import signal
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType

import psycopg
from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError, connection

from sage.embedded_backend.base import join_early
from sage.ending import end_soon
from sage.env import StartError
from sage.garbage import collect_rarely
from sage.schema import check_connection, check_migrations
from sage.version import read_version


def _exit_on_sigterm(_number: int, _frame: FrameType | None) -> None:
    # Exit normally, so that a command that started the embedded database also stops it.
    sys.exit(128 + signal.SIGTERM)


def _start_database_early() -> None:
    """Start the embedded database while `up` still loads its modules, which takes as long."""
    others = ("-h", "--help", "--settings", "--pythonpath")
    is_up = sys.argv[1:2] == ["up"] and not any(argument.startswith(others) for argument in sys.argv[2:])
    if is_up and settings.IS_EMBEDDED_DATABASE:
        join_early(settings.SAGE_DATA_DIR / "postgres")


def _set_model_file() -> None:
    """Let `up --model-file` mean what the variable does: the settings depend on it."""
    if sys.argv[1:2] == ["up"]:
        flag = ArgumentParser(add_help=False, allow_abbrev=False)
        flag.add_argument("--model-file")
        if path := flag.parse_known_args(sys.argv[2:])[0].model_file:
            os.environ["SAGE_MODEL_FILE"] = str(Path(path).expanduser().absolute())


def _run_command() -> None:
    if sys.argv[1:] in (["--version"], ["version"]):
        # Without the settings, which may create the data folder.
        print(f"Sage {read_version(Path(__file__).parent)}")  # noqa: T201 - the command's output
        return
    try:
        _set_model_file()
        _start_database_early()
        execute_from_command_line(sys.argv)
    except (ProgrammingError, psycopg.ProgrammingError):
        # Before the first `up` there are no tables: print one line instead of a traceback.
        if not {"up", "migrate"} & {*sys.argv}:
            connection.close()
            check_migrations()
        raise
    except (OperationalError, psycopg.OperationalError):
        connection.close()
        check_connection()
        raise


def _main() -> None:
    try:
        _run_command()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except StartError as error:
        sys.exit(f"Sage can't start: {error}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    collect_rarely()
    code = 1  # after an exception
    try:
        _main()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        raise
    finally:
        end_soon(code)
