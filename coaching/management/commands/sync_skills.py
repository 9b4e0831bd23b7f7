"""`manage.py sync_skills`: loads `skills/` into the database; `--check` only validates."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from coaching.context.fences import TAGS
from coaching.context.prompt_rules import SPEAKING, definition_faults, section_faults
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.life.arcs import ARCS
from coaching.skills.reader import Terms, find_faults, read_skill, skill_folders, skills_root
from coaching.skills.store import sync_skills
from coaching.tools import CHAT_TOOLS, SKILL_TOOLS, TOOL_NAMES

TERMS = Terms(
    offered_tools=TOOL_NAMES,
    skill_tools=SKILL_TOOLS,
    attributes=ATTRIBUTE_ORDER,
    sections=TAGS,
    speaking=SPEAKING,
    takes={rule.skill: rule.takes for rule in ARCS.values()},
)


class Command(BaseCommand):
    help = "Load skills/ into the database; overrides stay. --check only validates and needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="validate only; exit code 1 and a line per error"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        root = skills_root()
        faults = find_faults(root, TERMS)
        if options["check"]:
            faults += [*definition_faults(CHAT_TOOLS.definitions()), *section_faults()]
        if faults:
            self.stderr.write("\n".join(faults))
            sys.exit(1)
        skills = [read_skill(folder) for folder in skill_folders(root)]
        if options["check"]:
            self._print(f"{len(skills)} skills, no faults.", options)
            return
        report = sync_skills(files=skills)
        changes = [
            f"{word} {', '.join(names)}"
            for word, names in (
                ("added", report.added),
                ("changed", report.changed),
                ("retired", report.retired),
            )
            if names
        ]
        self._print(f"{len(skills)} skills: {'; '.join(changes) or 'nothing has changed'}.", options)

    def _print(self, line: str, options: dict[str, Any]) -> None:
        if options["verbosity"] > 0:
            self.stdout.write(line)
