"""`manage.py mcp --user U`: Sage's tools by MCP over standard input and output."""

import asyncio
from argparse import ArgumentParser
from datetime import timedelta
from importlib import import_module
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.api.mcp.access import Access
from coaching.management.people import user_named
from coaching.models import Scope
from coaching.models.programs import MAX_NAME
from coaching.programs.callers import Caller, NotKnown
from coaching.programs.clients import SCOPES

NAME = "MCP"


class Command(BaseCommand):
    help = (
        "Offer a person's files, next steps and documents by MCP over standard input and output, until the "
        "input ends. Whoever can run this can read them."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="U", help="a username, an address, or a number")
        parser.add_argument(
            "--scopes",
            nargs="+",
            choices=[scope.value for scope in SCOPES],
            default=[scope.value for scope in SCOPES],
            help="what the program may do; without: all of these",
        )
        parser.add_argument(
            "--name", default=NAME, help="the program's name, which the person sees with what it suggests"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        if not user.is_active:
            raise CommandError(f"{user.get_username()} is disabled.")
        caller = Caller(
            user_id=user.pk,
            key=f"process:{user.pk}",
            name=" ".join(options["name"].split())[:MAX_NAME] or NAME,
            scopes=frozenset(map(Scope, options["scopes"])),
            expires_at=timezone.now() + timedelta(days=365),
        )
        access = Access(caller=caller, check=lambda: _check(user.pk))
        stdio: Any = import_module("coaching.api.mcp.stdio")
        asyncio.run(stdio.serve(access))


def _check(user_id: int) -> None:
    if not User.objects.filter(pk=user_id, is_active=True).exists():
        raise NotKnown
