"""Runs all of Sage on one machine until Ctrl-C or SIGTERM."""

import time
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from coaching.voice.transcription import speech_problem
from sage.env_values import is_local
from sage.local_model import LocalModel
from sage.restored_secret import finish_restore
from sage.startup import (
    DEMO_EMAIL,
    check_services,
    environment_warnings,
    make_demo_account,
    prepare_database,
    prepare_static_files,
)
from sage.web_process import add_address_arguments, check_address, serve


class Command(BaseCommand):
    help = "Start Sage: database, migrations, a demo account on first run, the worker, and the web server."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_address_arguments(parser)
        parser.add_argument(
            "--model-file",
            metavar="FILE.gguf",
            help="serve this model with llama.cpp and use it for everything (SAGE_MODEL_FILE)",
        )
        parser.add_argument("--no-demo", action="store_true", help="create no demo account")

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        self._host: str = options["host"]
        check_address(options["host"], options["port"])
        for sentence in environment_warnings():
            self._warn(sentence)
        if problem := speech_problem():
            self._warn(problem)
        with self._local_model() as model:
            self._run(options, model, began)
        self.stdout.write("Sage has stopped.")

    def _local_model(self) -> AbstractContextManager[LocalModel | None]:
        if settings.SAGE_MODEL_FILE is None:
            return nullcontext()
        return LocalModel(
            path=settings.SAGE_MODEL_FILE,
            data_dir=settings.SAGE_DATA_DIR,
            context_tokens=settings.SAGE_CONTEXT_TOKENS,
            warn=self._warn,
        )

    def _run(self, options: dict[str, Any], model: LocalModel | None, began: float) -> None:
        check_services()
        finish_restore()
        with ThreadPoolExecutor(max_workers=1) as beside:
            static_files = beside.submit(prepare_static_files)
            prepare_database()
            static_files.result()
        if model is not None:
            address = model.wait(self._say)
            settings.ANTHROPIC_BASE_URL, settings.ANTHROPIC_API_KEY = address.url, address.api_key
        password = None if options["no_demo"] else make_demo_account()

        def announce(url: str) -> None:
            lines = self._summary(url, password, time.monotonic() - began)
            self.stdout.write("\n".join(lines))
            self.stdout.flush()

        serve(host=options["host"], port=options["port"], on_ready=announce, warn=self._warn, has_worker=True)

    def _summary(self, url: str, password: str | None, seconds: float) -> list[str]:
        database = "its own PostgreSQL" if settings.IS_EMBEDDED_DATABASE else "DATABASE_URL"
        lines = ["", f"Sage is ready after {seconds:.1f} s.", "", f"  open       {url}"]
        if password:
            lines.append(f"  sign in    {DEMO_EMAIL}  {password}   (shown only this once)")
            if not is_local(self._host):
                lines.append("             It works from other machines, too, so keep this output private.")
        else:
            lines.append("  sign in    with your account; a new password: manage.py changepassword NAME")
        if settings.SAGE_SIGNUP == "open":
            lines.append(f"  sign up    {url}accounts/signup/")
            if not is_local(self._host):
                lines.append("             Anybody who reaches this address can create an account.")
        elif not (settings.ENVIRONMENT.is_signup_chosen or is_local(self._host)):
            lines.append(f"  sign up    closed, since other machines reach {self._host}. To open it, set")
            lines.append("             SAGE_SIGNUP=open.")
        lines.append("  operators  manage.py createsuperuser, then " + url + "admin/")
        if settings.IS_PRACTICE_MODEL:
            lines.append("  model      the practice model: its answers are scripted. For Claude, set")
            lines.append("             ANTHROPIC_API_KEY.")
        else:
            served = ", served on this machine" if settings.SAGE_MODEL_FILE else ""
            lines.append(f"  model      {settings.SAGE_MODEL}{served}")
        lines += [
            f"  database   {database}",
            f"  data       {settings.SAGE_DATA_DIR}",
            "",
            "Ctrl-C stops it.",
            "",
        ]
        return lines

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def _warn(self, sentence: str) -> None:
        self.stderr.write(sentence)
