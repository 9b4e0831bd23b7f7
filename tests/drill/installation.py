"""The whole installation: nginx with the site of deploy/, web processes, workers, and what they use."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.relay.machine import free_port
from tests.deploy.nginx_site import RETRIED, placed, prepared
from tests.drill.parts import (
    HOST,
    Database,
    Part,
    Program,
    Waiting,
    answers_http,
    answers_redis,
    ended_at_last,
)
from tests.files.s3_server import S3Server
from tests.sage.processes import PROJECT, blank_environment

WEB_PROCESSES, WORKERS = 4, 2
BUCKET = "sage"
METRICS_TOKEN = "the token of the drill"
DEBIANS = "worker_processes auto;\nevents { worker_connections 768; }\n"
"""What Debian's nginx.conf has."""
_SETUP = (("migrate", "--verbosity", "0"), ("sync_skills",), ("sync_help_lines",))


class Installation:
    """All parts, in the order in which they are started. `broken` are those that the drill breaks."""

    def __init__(self, folder: Path, objects: S3Server) -> None:
        self.folder = folder
        self.port = free_port()
        self.model_port, self.storage_port, self.redis_port = free_port(), free_port(), free_port()
        self.web_ports = [free_port() for _ in range(WEB_PROCESSES)]
        self.database = Database(folder)
        self.environment = self._environment()
        behind = self._programs(objects.port)
        self.model = behind["model"]
        self.webs = [self._web(number, port) for number, port in enumerate(self.web_ports, start=1)]
        self.workers = [self._worker(number) for number in range(1, WORKERS + 1)]
        self.nginx = self._nginx()
        self.broken: list[Part] = [
            *(*self.webs, *self.workers, self.nginx),
            *(behind["redis"], behind["s3"], self.database),
        ]
        sage = [*self.webs, *self.workers]
        self.parts: list[Part] = [self.database, *behind.values(), *sage, self.nginx]

    @property
    def origin(self) -> str:
        """The site's address; its name leads to this machine."""
        return f"https://{HOST}:{self.port}"

    def set_up(self) -> None:
        """Create tables, skills and help lines."""
        self.database.start()
        for command in _SETUP:
            self.manage(*command)

    def manage(self, *command: str) -> None:
        """Run `manage.py`. Raises `CalledProcessError`."""
        subprocess.run(
            [sys.executable, PROJECT / "manage.py", *command],
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def _environment(self) -> dict[str, str]:
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        return {
            **blank_environment(),
            "PYTHONUNBUFFERED": "1",
            "DATABASE_URL": self.database.server.url,
            "REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "SAGE_DATA_DIR": str(data),
            "SAGE_S3_BUCKET": BUCKET,
            "SAGE_S3_ENDPOINT_URL": f"http://127.0.0.1:{self.storage_port}",
            "AWS_ACCESS_KEY_ID": "drill",
            "AWS_SECRET_ACCESS_KEY": "drill",
            "AWS_REGION": "eu-central-1",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.model_port}",
            "ANTHROPIC_API_KEY": "practice",
            "SECRET_KEY": "of the drill, and long enough for that: 0123456789",
            "ALLOWED_HOSTS": HOST,
            "CSRF_TRUSTED_ORIGINS": self.origin,
            "SAGE_SIGNUP": "closed",
            "SAGE_METRICS_TOKEN": METRICS_TOKEN,
        }

    def _programs(self, objects_port: int) -> dict[str, Program]:
        """Return what web processes and workers use beside the database."""
        storage = ["-m", "tests.drill.storage", "--port", str(self.storage_port)]
        model = ["-m", "tests.drill.model", "--port", str(self.model_port)]
        options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        return {
            "redis": Program(
                "redis",
                ["redis-server", "--port", str(self.redis_port), *options],
                answers_redis(self.redis_port),
                folder=self.folder,
            ),
            "s3": Program(
                "s3",
                [sys.executable, *storage, "--behind", str(objects_port)],
                answers_http(self.storage_port, "/"),
                folder=self.folder,
            ),
            "model": Program(
                "model",
                [sys.executable, *model],
                answers_http(self.model_port, "/", expected=(404,)),
                folder=self.folder,
                environment=self.environment,
            ),
        }

    def _web(self, number: int, port: int) -> Program:
        return Program(
            f"web-{number}",
            [sys.executable, str(PROJECT / "manage.py"), "web", "--host", "127.0.0.1", "--port", str(port)],
            answers_http(port, "/readyz"),
            folder=self.folder,
            environment=self.environment,
        )

    def _worker(self, number: int) -> Program:
        return Waiting(
            f"worker-{number}",
            [sys.executable, str(PROJECT / "manage.py"), "worker"],
            "The worker waits for jobs.",
            folder=self.folder,
            environment=self.environment,
        )

    def _nginx(self) -> Program:
        folder = self.folder / "nginx"
        folder.mkdir()
        command = prepared(folder, "sage.conf", placed(self.port, self.web_ports, options=RETRIED))
        (folder / "nginx.conf").write_text(
            f"pid {folder}/pid;\n{DEBIANS}http {{ include {folder}/site.conf; }}\n"
        )
        return Program(
            "nginx",
            [*command, "-g", "daemon off;"],
            answers_http(self.port, "/healthz", is_tls=True),
            folder=self.folder,
            reload=signal.SIGHUP,
        )


@contextmanager
def opened(folder: Path) -> Iterator[Installation]:
    """Start everything, wait until all parts serve, and end them at last."""
    objects = S3Server()
    try:
        objects.make_bucket(BUCKET)
        installation = Installation(folder, objects)
        with ended_at_last(installation.parts):
            installation.set_up()
            for part in installation.parts:
                if part is not installation.database:
                    part.start()
            for part in installation.parts:
                part.wait_until_it_serves()
            yield installation
    finally:
        objects.stop()
