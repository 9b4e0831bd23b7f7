"""Runs the steps of deploy/Containerfile, word by word, in new roots, and then the image's command.

    python -m tests.deploy.image FOLDER    # as root; needs mmdebstrap, the network, and free ports 5432, 8000

Debian's Python takes the place of the base image's. The command runs as the image's user, without
capabilities, on a read-only file system with its data folder and /tmp, on a PostgreSQL of its own, and passes
its health check. FOLDER is created and stays. Ends with 0 if all went as it should.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sage.data_folder import make_secret
from sage.embedded_postgres import EmbeddedPostgres
from tests.deploy.containerfile import PATH, Instruction, Stage, read_stages
from tests.deploy.roots import copy_project, make_root, run_in

CHECKS = """
set -x
if touch written; then exit 1; fi
python manage.py --version
python manage.py migrate --verbosity 0
python manage.py sync_skills --verbosity 0
python manage.py sync_help_lines --verbosity 0
python manage.py check --deploy --fail-level WARNING
{command} &
web=$!
until {health}; do sleep 1; done
python - <<'END'
import json, urllib.request
asked = urllib.request.Request("http://127.0.0.1:8000/readyz", headers={{"Host": "sage.example"}})
told = json.load(urllib.request.urlopen(asked))
print(told)
assert told["status"] == "ok" and told["sandbox"] == "full"
END
kill -TERM $web
wait $web
"""


class Image:
    """A root with what an image remembers besides its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = "/"
        self.environment: dict[str, str] = {}

    def apply(self, instruction: Instruction, stages: Mapping[str, Path]) -> None:
        """Carry out an instruction; those about the later start are left to `main`."""
        print("==", instruction.name, instruction.text, flush=True)  # noqa: T201 - a command for people
        if instruction.name == "RUN":
            run_in(self.root, f"cd {self.folder}\n{instruction.text}", environment=self.environment)
        elif instruction.name == "ENV":
            self.environment |= dict(word.split("=", 1) for word in instruction.words)
        elif instruction.name == "WORKDIR":
            self.folder = instruction.text
            self._place(self.folder).mkdir(parents=True, exist_ok=True)
        elif instruction.name == "COPY":
            *sources, target = instruction.words
            stage = instruction.options.get("from")
            self._copy(sources, target, stages[stage] if stage else None)

    def _copy(self, sources: list[str], target: str, other: Path | None) -> None:
        if other is not None:
            for source in sources:
                copied = ["cp", "--archive", str(other / source.lstrip("/")), str(self._place(target))]
                subprocess.run(copied, check=True)
            return
        staged = self.root.with_name("copied")
        shutil.rmtree(staged, ignore_errors=True)
        copy_project(staged, sources)
        place = self._place(target)
        for source in sources:
            is_folder = (staged / source).is_dir()
            inside = place / Path(source).name if target.endswith("/") else place
            inside.parent.mkdir(parents=True, exist_ok=True)
            if is_folder:
                shutil.copytree(staged / source, place, dirs_exist_ok=True)
            else:
                shutil.copy2(staged / source, inside)

    def _place(self, path: str) -> Path:
        return self.root / (Path(self.folder) / path).as_posix().lstrip("/")


def build(folder: Path) -> tuple[Image, Stage]:
    """Build all stages; return the last one."""
    make_root(folder / "base", ["ca-certificates", "python3", "python3-venv"])
    (folder / "base" / "usr" / "local" / "bin" / "python").symlink_to("/usr/bin/python3")
    stages: dict[str, Path] = {}
    for number, stage in enumerate(read_stages(PATH.read_text())):
        image = Image(folder / f"stage-{number}")
        subprocess.run(["cp", "--archive", str(folder / "base"), str(image.root)], check=True)
        stages[stage.name] = image.root
        for instruction in stage.instructions:
            image.apply(instruction, stages)
    return image, stage


def start(image: Image, stage: Stage, database_url: str) -> None:
    """Run the image's command as its user, contained as by deploy/compose.yaml."""
    (user,), (entry,), (command,) = stage.all("USER"), stage.all("ENTRYPOINT"), stage.all("CMD")
    (health,) = stage.all("HEALTHCHECK")
    script = CHECKS.format(
        command=shlex.join([*entry.words, *command.words]),
        health=shlex.join(Instruction(name="CMD", text=health.text.removeprefix("CMD ")).words),
    )
    number, group = user.text.split(":")
    data = image.environment["SAGE_DATA_DIR"]
    rights = (
        f"--reuid {number} --regid {group} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all"
    )
    inside = f"""
mount --bind {data} {data}
mount --types tmpfs tmpfs /tmp
mount --options remount,bind,ro /
cd {image.folder}
exec setpriv {rights} /bin/sh -euc {shlex.quote(script)}
"""
    given = {
        "DATABASE_URL": database_url,
        "SECRET_KEY": make_secret(),
        "ALLOWED_HOSTS": "sage.example",
        "CSRF_TRUSTED_ORIGINS": "https://sage.example",
    }
    run_in(image.root, inside, environment={**image.environment, **given, "PIP_CERT": ""})


def main(folder: Path) -> None:
    """Build and start the image."""
    folder.mkdir(parents=True)
    image, stage = build(folder)
    database = folder / "database"
    database.mkdir(mode=0o755)
    server = EmbeddedPostgres.of(database, options=("listen_addresses=127.0.0.1",), is_lasting=False)
    server.join()
    try:
        start(image, stage, f"postgres://sage:{server.password}@127.0.0.1:5432/sage")
    finally:
        server.leave()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
