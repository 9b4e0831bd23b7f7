"""Runs the steps of docs/installing.md for Debian, word by word, up to a page behind nginx and TLS.

Then those of docs/upgrading.md with the units: a backup, a next version whose database is newer, the way back
to the version before, and the restored backup.

    python -m tests.deploy.debian FOLDER    # as root; needs mmdebstrap, systemd, the network, and free ports

It makes a new root in FOLDER, which stays. Services run there with processes of their own, and end with it:
`systemctl` is a stand-in, which starts the units' commands by `unit_runner`. Ends with 0 if all went as the
page says.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from sage.version import read_version
from tests.deploy.roots import copy_project, make_root, run_in
from tests.legacy.exports import write_sage_export
from tests.sage.processes import PROJECT

INSTALLING, UPGRADING = (PROJECT / "docs" / name for name in ("installing.md", "upgrading.md"))
NAMED = ("0.1.0", "0.2.0")
"""The two versions in upgrading.md's commands: this one and the next are put in their place."""
NOW = read_version(PROJECT)
NEXT = "{}.{}.0".format(*(int(part) + at for at, part in enumerate(NOW.split(".")[:2])))
"""These files with another number and a migration."""
BACKUP = re.compile(r"`(runuser -u sage -- [^`]+ backup [^`]+)` in `(/opt/sage/current)`")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
SYSTEMCTL = """#!/bin/sh
set -eu
start() {
    for unit; do
        unshare --mount /usr/bin/python3 /usr/local/lib/unit_runner.py "$unit" >"/var/log/$unit.log" 2>&1 &
        echo $! >"/run/$unit.pid"
    done
    for unit; do
        tries=0
        until grep -qE "Sage answers at|The worker waits" "/var/log/$unit.log"; do
            sleep 1
            tries=$((tries + 1))
            [ "$tries" -lt 120 ] || { cat "/var/log/$unit.log"; exit 1; }
        done
    done
}
stop() {
    for unit; do
        pid=$(cat "/run/$unit.pid")
        kill "$pid"
        while [ -e "/proc/$pid" ] && ! grep -q "^State:.Z" "/proc/$pid/status"; do sleep 0.2; done
    done
}
how=$1
shift
case "$how $*" in
enable*) shift; start "$@" ;;
"start sage"*) start "$@" ;;
"stop sage"*) stop "$@" ;;
"restart sage"*) stop "$@"; start "$@" ;;
reload*) nginx -s reload 2>/dev/null || nginx ;;
restart*) service "$1" restart ;;
daemon-reload*) ;;
*) exit 1 ;;
esac
"""
MIGRATION = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("coaching", "{last}")]
    operations = [migrations.AddField("backup", "of_the_next", models.BooleanField(db_default=False))]
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
cp /usr/local/lib/sage-calls /tmp/sage-calls
sed --in-place /landlock/d /usr/local/lib/sage-calls
sed "s#manage.py worker#manage.py check --deploy#" $worker > /etc/systemd/system/sage-checked.service
$run sage-checked 2>&1 | grep "refuses layers .* landlock"
cp /tmp/sage-calls /usr/local/lib/sage-calls
"""
FUNCTIONS = r"""
echo "== upgrading"
running() {
    for unit in sage-worker sage-web@8001 sage-web@8002; do
        grep --text --only-matching "/opt/sage/[^/]*" "/proc/$(cat "/run/$unit.pid")/cmdline" | head -1
    done | tr '\n' ' '
}
expect() { [ "$(running)" = "$1 " ] || { running; exit 1; }; }
asked() { runuser -u postgres -- psql --tuples-only --no-align --command "$1" sage; }
old=/opt/sage/NOW new=/opt/sage/NEXT
"""
UPGRADED = r"""
expect "$new $new $old"
$curl --fail $site/readyz | grep '"status": "ok"'
systemctl restart sage-web@8002
expect "$new $new $new"
$curl --fail $site/readyz | grep '"sandbox": "full"'
"""
BACK = r"""
expect "$old $old $new"
systemctl restart sage-web@8002
expect "$old $old $old"
grep "A newer version of Sage has migrated the database" /var/log/sage-web@8001.log
$curl --fail $site/readyz | grep '"status": "ok"'
cd /opt/sage/current
if runuser -u sage -- .venv/bin/python manage.py migrate; then exit 1; fi
asked "INSERT INTO auth_group (name) VALUES ('after the backup')"
"""
RESTORED = r"""
expect "$old $old $old"
[ "$(asked "SELECT count(*) FROM sessions_app_message")" = "$messages" ]
[ "$(asked "SELECT count(*) FROM auth_group WHERE name = 'after the backup'")" = 0 ]
if grep "A newer version" /var/log/sage-web@800?.log; then exit 1; fi
$curl --fail $site/readyz | grep '"sandbox": "full"'
runuser -u sage -- .venv/bin/python manage.py migrate --check
echo "== all went as the pages say"
"""


def blocks(page: Path, heading: str) -> list[str]:
    """Return the commands of a page's section, block by block."""
    _, _, section = page.read_text().partition(f"\n## {heading}\n")
    section, _, _ = section.partition("\n## ")
    return BLOCK.findall(section)


def upgrade() -> str:
    """Return what upgrading.md has people do with the units, with checks in between."""
    (backup,) = BACKUP.findall(UPGRADING.read_text())
    (forward,) = blocks(UPGRADING, "In parts, while people use it")
    back, _in_containers, restored = blocks(UPGRADING, "Going back")
    taken = f'cd {backup[1]}\n{backup[0]}\nmessages=$(asked "SELECT count(*) FROM sessions_app_message")\n'
    own = FUNCTIONS.replace("NOW", NOW).replace("NEXT", NEXT)
    return own + taken + _of_now(forward) + UPGRADED + _of_now(back) + BACK + _of_now(restored) + RESTORED


def _of_now(commands: str) -> str:
    """Put this version and the next one in place of the two that the page names."""
    versions = dict(zip(NAMED, (NOW, NEXT), strict=True))
    return re.sub("|".join(map(re.escape, NAMED)), lambda found: versions[found[0]], commands)


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
    versions = folder / "opt" / "sage"
    copy_project(versions / NOW)
    copy_project(versions / NEXT)
    project = versions / NEXT / "pyproject.toml"
    project.write_text(project.read_text().replace(f'"{NOW}"', f'"{NEXT}"', 1))
    # A newer database, which the version before refuses to migrate and runs on.
    last = max((PROJECT / "coaching" / "migrations").glob("0*.py")).stem
    (versions / NEXT / "coaching" / "migrations" / "9999_next.py").write_text(MIGRATION.format(last=last))
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
    steps = blocks(INSTALLING, "Debian with systemd")
    first, *others = [block for block in steps if "createsuperuser" not in block]
    run_in(folder, "set -x\n" + first + SERVICES + "".join(others) + CHECKS + upgrade())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
