"""Texts of pages stand where `makemessages` finds them: it doesn't read what is inside an f-string."""

import re

from tests.architecture.test_tool_names import PACKAGES
from tests.sage.processes import PROJECT

INSIDE_AN_F_STRING = re.compile(r"\{n?p?gettext\([\"']")


def test_no_text_to_translate_is_inside_an_f_string() -> None:
    found = [
        f"{path.relative_to(PROJECT)}: {line.strip()}"
        for package in PACKAGES
        for path in (PROJECT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if INSIDE_AN_F_STRING.search(line)
    ]
    assert not found
