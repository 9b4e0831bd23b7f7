"""Compare `requirements.lock` with a fresh resolution: for whoever changes dependencies, not for the suite.

    uv run python -m tests.architecture.resolve          # compares
    uv run python -m tests.architecture.resolve --write  # resolves again and writes the lock

It asks the package index, so its answer may change from one day to the next; no test depends on it.
It also prints the newest upload of the lock: at least ten days older than the change, except for
the packages named in `[tool.uv.exclude-newer-package]`.
"""

import subprocess
import sys
import tomllib

from tests.sage.processes import PROJECT

WITHOUT = ["--no-header", "--no-default-groups", "--no-emit-project"]
EXPORT = ["uv", "export", "--quiet", *WITHOUT, "--format", "requirements-txt"]
LOCK = PROJECT / "requirements.lock"


def _newest_uploads() -> list[tuple[str, str, str]]:
    """Rows of (time, name, version), newest last."""
    packages = tomllib.loads((PROJECT / "uv.lock").read_text())["package"]
    return sorted(
        (file["upload-time"], package["name"], package["version"])
        for package in packages
        for file in [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        if "upload-time" in file
    )


def main() -> int:
    """Return 0 if the lock matches a fresh resolution."""
    if "--write" in sys.argv:
        subprocess.run(["uv", "lock", "--upgrade"], cwd=PROJECT, check=True)
    resolved = subprocess.run(EXPORT, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    if "--write" in sys.argv:
        LOCK.write_text(resolved)
    excepted = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["uv"]["exclude-newer-package"]
    newest = [row for row in _newest_uploads() if row[1] not in excepted][-1]
    print("newest upload:", *newest)  # noqa: T201  # a command for people
    same = resolved == LOCK.read_text()
    print("requirements.lock is", "what would be resolved now" if same else "out of step")  # noqa: T201 - for whoever runs it
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
