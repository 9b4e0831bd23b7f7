"""Ask whether a version in `requirements.lock` has a known vulnerability: a step of `.ci/run`.

    uv run --group audit python -m tests.architecture.audit

Further arguments go to pip-audit (`--vulnerability-service osv`). Exit code 1 means that a vulnerability was
found, or that the lock can't be read. Where nobody can be asked, one line says so and the exit code is 0: a
build doesn't depend on a service of others.
"""

import json
import subprocess
import sys
from typing import Any

from tests.sage.processes import PROJECT

# Everything is pinned and hashed: nothing needs to be resolved, and no index is asked for files.
COMMAND = [
    *(
        sys.executable,
        "-m",
        "pip_audit",
        "--requirement",
        str(PROJECT / "requirements.lock"),
        "--require-hashes",
        "--disable-pip",
    ),
    *("--format", "json", "--progress-spinner", "off"),
]
SECONDS = 300


def main(options: list[str]) -> int:
    """Return the exit code; print a line per vulnerability, or why no service could be queried."""
    if (plan := _run("--dry-run", *options)).returncode:
        return _say(f"The lock can't be audited: {_last_line(plan.stderr)}", 1)
    try:
        asked = _run(*options)
        packages = json.loads(asked.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _say(f"Audit skipped: no answer within {SECONDS} seconds.", 0)
    except json.JSONDecodeError:
        return _say(f"Audit skipped: {_last_line(asked.stderr)}", 0)
    known = [package for package in packages if "vulns" in package]
    if not known:
        return _say("Audit skipped: the service knows none of the packages.", 0)
    lines = [_line(package, found) for package in known for found in package["vulns"]]
    unknown = (
        f" {len(packages) - len(known)} are unknown to the service." if len(known) < len(packages) else ""
    )
    summary = f"{len(known)} packages audited, {len(lines)} vulnerabilities.{unknown}"
    return _say("\n".join([*lines, summary]), 1 if lines else 0)


def _run(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=SECONDS, check=False)


def _line(package: dict[str, Any], found: dict[str, Any]) -> str:
    fixed = ", ".join(found["fix_versions"]) or "no version yet"
    return f"{package['name']} {package['version']}: {found['id']}, fixed in {fixed}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["pip-audit gives no reason"])[-1]


def _say(text: str, code: int) -> int:
    print(text)  # noqa: T201  # a command for people
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
