"""`python -m tests.practice FILE…`: plays conversations with the guided tour and prints what it says.

A file has a line for each message; `> value` taps an option, an empty line begins another conversation. To
talk with the tour, add a line and play the file again: equal conversations get equal answers.
"""

import argparse
import asyncio
import importlib
import os
from pathlib import Path

import django


def main() -> None:
    """Play the conversations in the files."""
    parser = argparse.ArgumentParser(prog="python -m tests.practice", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--language", choices=("en", "de", "es"), default="en", help="the account's")
    given = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ.setdefault("DATABASE_URL", "postgresql://nobody@localhost/none")  # never connected to
    django.setup()
    talking = importlib.import_module("tests.practice.talking")  # needs models
    parts = [part for file in given.files for part in file.read_text(encoding="utf-8").split("\n\n")]
    talks = [[line for line in part.splitlines() if line.strip()] for part in parts if part.strip()]
    for said in asyncio.run(talking.play_all(talks, given.language)):
        print(said, "-" * 40, sep="\n")  # noqa: T201 - its output


if __name__ == "__main__":
    main()
