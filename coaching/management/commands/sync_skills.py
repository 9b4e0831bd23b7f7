"""`manage.py sync_skills`: loads skills, references and placement rules; `--check` only validates."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from coaching.context.fences import TAGS
from coaching.context.prompt_rules import SPEAKING, definition_faults, section_faults
from coaching.files.permissions import WRITABLE
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.library.references.files import (
    find_reference_faults,
    read_reference_files,
    sync_reference_files,
)
from coaching.life.arcs import ARCS
from coaching.models import Reference
from coaching.skills.calls import find_table_faults
from coaching.skills.reader import Terms, find_faults, read_skill, skill_folders, skills_root
from coaching.skills.store import sync_skills
from coaching.tools import CHAT_TOOLS, SKILL_TOOLS, TOOL_NAMES
from coaching.tools.save_file import SAVE_FILE

TERMS = Terms(
    offered_tools=TOOL_NAMES,
    skill_tools=SKILL_TOOLS,
    attributes=ATTRIBUTE_ORDER,
    sections=TAGS,
    speaking=SPEAKING,
    takes={rule.skill: rule.takes for rule in ARCS.values()},
)


class Command(BaseCommand):
    help = (
        "Load skills/, references and placement rules into the database; what operators changed stays. "
        "--check only validates and needs no database."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="validate only; exit code 1 and a line per error"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        root = skills_root()
        faults = [*find_faults(root, TERMS), *find_reference_faults()]
        if options["check"]:
            faults += [*definition_faults(CHAT_TOOLS.definitions()), *section_faults()]
            if not faults:
                descriptions = {tool["name"]: tool["description"] for tool in CHAT_TOOLS.definitions()}
                faults += find_table_faults(
                    root, saving=SAVE_FILE.name, writable=WRITABLE, descriptions=descriptions
                )
        if faults:
            self.stderr.write("\n".join(faults))
            sys.exit(1)
        skills = [read_skill(folder) for folder in skill_folders(root)]
        if options["check"]:
            number = len(read_reference_files().references)
            self._print(f"{len(skills)} skills, {number} references, no faults.", options)
            return
        report = sync_skills(files=skills)
        said = describe(report.added, report.changed, report.retired)
        self._print(f"{len(skills)} skills: {said}.", options)
        synced = sync_reference_files()
        said = describe(synced.added, synced.changed, synced.retired)
        number = Reference.objects.filter(is_retired=False).count()
        self._print(f"{number} references: {said}; {synced.rules} placement rules changed.", options)

    def _print(self, line: str, options: dict[str, Any]) -> None:
        if options["verbosity"] > 0:
            self.stdout.write(line)


def describe(added: Sequence[str], changed: Sequence[str], retired: Sequence[str]) -> str:
    named = (("added", added), ("changed", changed), ("retired", retired))
    return "; ".join(f"{word} {', '.join(names)}" for word, names in named if names) or "nothing has changed"
