"""Runs the steps of docs/installing.md for Debian, word by word, up to a page behind nginx and TLS.

    python -m tests.deploy.debian FOLDER    # as root; needs mmdebstrap, systemd, the network, and free ports

It makes a new root in FOLDER, which stays. Services run there with processes of their own, and end with it:
`systemctl` is a stand-in, which starts the units' commands by `unit_runner`. Ends with 0 if all went as the
page says.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sage.version import read_version
from tests.deploy.roots import copy_project, make_root, run_in
from tests.legacy.exports import write_sage_export
from tests.sage.processes import PROJECT

PAGE = PROJECT / "docs" / "installing.md"
SECTION = "\n## Debian with systemd\n"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
SYSTEMCTL = """#!/bin/sh
set -eu
case "$1" in
enable)
    shift 2
    for unit; do
        unshare --mount /usr/bin/python3 /usr/local/lib/unit_runner.py "$unit" >"/var/log/$unit.log" 2>&1 &
    done
    for unit; do
        tries=0
        until grep -qE "Sage answers at|The worker waits" "/var/log/$unit.log"; do
            sleep 1
            tries=$((tries + 1))
            [ "$tries" -lt 120 ] || { cat "/var/log/$unit.log"; exit 1; }
        done
    done
    ;;
reload) nginx -s reload 2>/dev/null || nginx ;;
restart) service "$2" restart ;;
daemon-reload) ;;
*) exit 1 ;;
esac
"""
# Debian's packages start their services where systemd runs.
SERVICES = "service postgresql start; service redis-server start\n"
CHECKS = r"""
echo "== checks"
curl="curl --silent --show-error --insecure --resolve sage.example:443:127.0.0.1"
site=https://sage.example
$curl --fail $site/readyz | grep '"sandbox": "full"'
$curl --fail $site/accounts/login/ | grep --only-matching '<title>.*</title>'
$curl --include --header "Host: sage.example" http://127.0.0.1/a | grep "^Location: $site/a"
$curl --include --max-time 3 --header "Upgrade: websocket" --header "Connection: Upgrade" \
    --header "Sec-WebSocket-Version: 13" --header "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==" \
    --header "Origin: $site" $site/ws/sessions/00000000-0000-0000-0000-000000000000/ | head -1
ps -eo user:12,args | grep python | grep --invert-match grep
if ps -eo user:12,args | grep python | grep --invert-match grep | grep "^root"; then exit 1; fi
cat /var/log/nginx/sage.log
worker=/etc/systemd/system/sage-worker.service
run="unshare --mount /usr/bin/python3 /usr/local/lib/unit_runner.py"
tried="shell --no-imports < /usr/local/lib/tried.py"
sed "s#manage.py worker#manage.py $tried#" $worker > /etc/systemd/system/sage-tried.service
$run sage-tried | tail -3 | tee /var/log/tried.log
grep --quiet "^tried: " /var/log/tried.log
# The counter-check: without these calls, a layer is missing.
sed --in-place /landlock/d /usr/local/lib/sage-calls
sed "s#manage.py worker#manage.py check --deploy#" $worker > /etc/systemd/system/sage-checked.service
$run sage-checked 2>&1 | grep "refuses layers .* landlock"
echo "== all went as the page says"
"""


def blocks() -> Iterator[str]:
    """Yield the commands of the page's section, block by block."""
    _, _, section = PAGE.read_text().partition(SECTION)
    section, _, _ = section.partition("\n## ")
    yield from BLOCK.findall(section)


def service_calls(names: str) -> set[str]:
    """Return the system calls of systemd's groups and names."""
    found = set[str]()
    for name in names.split():
        if name.startswith("@"):
            told = subprocess.run(
                ["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True
            )
            lines = [line.strip() for line in told.stdout.splitlines()[1:]]
            found |= service_calls(" ".join(line for line in lines if not line.startswith("#")))
        else:
            found.add(name)
    return found


def prepare(folder: Path) -> None:
    """Put the project and the stand-in for systemd into a root."""
    copy_project(folder / "opt" / "sage" / read_version(PROJECT))
    unit = (PROJECT / "deploy" / "systemd" / "sage-worker.service").read_text()
    allowed = re.search(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE)
    assert allowed
    library = folder / "usr" / "local" / "lib"
    (library / "sage-calls").write_text("\n".join(sorted(service_calls(allowed[1]))))
    for name in ("tried.py", "unit_runner.py"):
        shutil.copy(Path(__file__).with_name(name), library)
    write_sage_export(library / "sage-export.json", sessions=3, messages=12)
    systemctl = folder / "usr" / "local" / "sbin" / "systemctl"
    systemctl.write_text(SYSTEMCTL)
    systemctl.chmod(0o755)


def main(folder: Path) -> None:
    """Make the root, and run the page's commands in it."""
    make_root(folder, ["ca-certificates", "procps", "python3-seccomp"])
    prepare(folder)
    first, *others = [block for block in blocks() if "createsuperuser" not in block]
    run_in(folder, "set -x\n" + first + SERVICES + "".join(others) + CHECKS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
