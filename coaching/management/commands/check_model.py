"""`manage.py check_model [--json]`: what the model's server really does with Sage's requests."""

import asyncio
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from coaching.model_client.check import ModelCheck, check_model
from coaching.model_client.connection import ModelConnection


class Command(BaseCommand):
    help = "Try the model's server with a few short requests, in a minute, and say what to set."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        found = asyncio.run(_check())
        if options["json"]:
            self.stdout.write(json.dumps(found.as_dict(), ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines_of(found)))
        if not found.is_reached:
            sys.exit(1)


async def _check() -> ModelCheck:
    models = ModelConnection()
    try:
        return await check_model(await models.client())
    finally:
        await models.close()


def lines_of(found: ModelCheck) -> list[str]:
    """Return what was found, a fact a line."""
    rows = {
        "model": found.model,
        "server": found.server + (", on a machine of its own" if found.is_local else ""),
        "address": found.address or "the usual one",
        "reached": _yes(found.is_reached) + (f" ({found.failure})" if found.failure else ""),
        "context": f"{found.context_tokens:,} tokens" if found.context_tokens else "not said",
        "tools": _yes(found.has_tools) + _tokens(found),
        "structured": _yes(found.has_structured_output),
        "streaming": _yes(found.is_streaming),
        "pictures": _yes(found.has_sight),
        "batches": _yes(found.has_batches),
        "reads": _speed(found.tokens_read_per_second),
        "writes": _speed(found.tokens_written_per_second),
    }
    return [f"{name:<11} {value}" for name, value in rows.items()] + [
        "",
        *(found.advice or ["Nothing to set."]),
    ]


def _yes(value: bool | None) -> str:
    return "not found out" if value is None else "yes" if value else "no"


def _tokens(found: ModelCheck) -> str:
    if found.tokens_with_tools is None:
        return ""
    return f" (a prompt of {found.tokens_without_tools} tokens has {found.tokens_with_tools} with a tool)"


def _speed(tokens: float | None) -> str:
    return "not found out" if tokens is None else f"{tokens:,.1f} tokens a second"
