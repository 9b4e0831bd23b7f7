"""Runs several of `manage.py`'s commands, each in a fork of one process that has loaded Sage.

  python -m tests.sage.each_command '[["recall", "sister"], ["worker"]]'

Prints a list of exit codes and outputs. A fork knows settings, models and URLs already, which are the same
for all commands, and otherwise begins and ends as `manage.py` does.
"""

import json
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path

import django

MAX_AT_ONCE = 4
PROGRAM = Path(__file__).resolve().parents[2] / "manage.py"


def _begin(command: list[str]) -> tuple[int, int]:
    """Fork; return the child and where its output comes from. The child ends with what the command raises."""
    output, written = os.pipe()
    if child := os.fork():
        os.close(written)
        return child, output
    os.dup2(written, sys.stdout.fileno())
    os.dup2(written, sys.stderr.fileno())
    sys.argv = ["manage.py", *command]
    try:
        runpy.run_path(str(PROGRAM), run_name="__main__")
    finally:
        sys.stdout.flush()  # as after every script, before its exception is printed
    sys.exit()


def _end(child: int, output: int) -> tuple[int, str]:
    with open(output, encoding="utf-8") as told:
        text = told.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def main() -> None:
    """Run the commands, a few at once: some wait for a server that isn't there."""
    django.setup()
    import_module("sage.urls")
    commands, results = json.loads(sys.argv[1]), []
    for place in range(0, len(commands), MAX_AT_ONCE):
        begun = [_begin(command) for command in commands[place : place + MAX_AT_ONCE]]
        results += [_end(*one) for one in begun]
    sys.stdout.write(json.dumps(results))


main()
