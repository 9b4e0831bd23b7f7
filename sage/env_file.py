"""Reads `.env`, and finds names that are no variable's: a misspelt one would be ignored silently."""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from environ import Env

from sage.env import SettingError, variable_names

PREFIX = "SAGE_"
OF_OTHERS = frozenset({"SAGE_DATABASE_PASSWORD", "SAGE_IMAGE_TAG", "SAGE_TOKEN", "SAGE_WEB_PROCESSES"})
"""Read by `deploy/compose.yaml` and by the programs of docs/programs.md."""
PREFIXES_OF_OTHERS = ("SAGE_TEST_", "SAGE_FAULT_", "SAGE_BENCH_")
"""Read by tests."""
CLOSE = 0.8

_ENCODING = "utf-8-sig"
"""UTF-8, with or without a byte order mark."""
_OF_A_SERVICE = re.compile(
    "SAGE_([A-Z0-9_]*_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_ADDR|_PORT|_PROTO)?)"
)
_ADDRESS_OF_A_SERVICE = re.compile("(SAGE_PORT|SAGE_[A-Z0-9_]*_PORT)=(tcp|udp|sctp)://.*")
"""What Kubernetes sets for services whose names begin with sage, and Docker for linked containers."""
_LINE = re.compile(r"(?:export )?([A-Za-z_0-9]+)=")


def read_env_file(path: Path) -> Sequence[str]:
    """Add a file's variables to the environment, which wins; return their names, none if there is no file.

    Raises `SettingError` if the file can't be read, or has a line that sets nothing.
    """
    try:
        if not path.is_file():
            return []
        text = path.read_text(encoding=_ENCODING)
    except OSError as error:
        reason = error.strerror
        raise SettingError(f"{path} can't be read ({reason}): let this user read it, or remove it.") from None
    except UnicodeDecodeError:
        raise SettingError(f"{path} isn't text in UTF-8.") from None
    names = []
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _LINE.match(line):
            names.append(found[1])
        elif line.strip() and not line.lstrip().startswith("#"):
            # It isn't repeated: it may hold a key.
            raise SettingError(f"{path}, line {number}: must be NAME=value, without spaces around the name.")
    Env.read_env(str(path), encoding=_ENCODING)
    return names


def unknown_names(given: Mapping[str, str], in_file: Collection[str]) -> Sequence[str]:
    """Return a sentence for each name that looks like a variable of Sage and isn't one.

    `given` is the environment, `in_file` are the names in `.env`, where any name counts that is close
    to a variable's: other programs may read the file, too.
    """
    known, found = variable_names(), []
    for name in sorted({*given, *in_file} - {*known} - OF_OTHERS):
        meant = get_close_matches(name.upper(), known, n=1, cutoff=CLOSE)
        is_ours = name.startswith(PREFIX) and not _is_of_others(name, given.get(name, ""))
        if is_ours or (meant and name in in_file):
            place = ".env" if name in in_file else "the environment"
            question = f" Did you mean {meant[0]}?" if meant else ""
            found.append(f"{name} in {place} is no variable of Sage and is ignored.{question}")
    return found


def _is_of_others(name: str, value: str) -> bool:
    is_of_a_service = _OF_A_SERVICE.fullmatch(name) or _ADDRESS_OF_A_SERVICE.fullmatch(f"{name}={value}")
    return name.startswith(PREFIXES_OF_OTHERS) or bool(is_of_a_service)
