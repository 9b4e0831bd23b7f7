"""deploy/Containerfile: two stages, no root, pinned packages, a health check, and only what Sage needs.

`python -m tests.deploy.image` runs its steps; no container engine is needed for either.
"""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.deploy.containerfile import PATH, read_stages
from tests.sage.processes import PROJECT

BUILD, FINAL = read_stages(PATH.read_text())


def test_an_instruction_that_no_engine_knows_is_refused() -> None:
    for text in ("FROM a\nRUNN b", "RUN a", "FROM a\nADD b c", "FROM a\nRUN"):
        with pytest.raises(ValueError, match=r"no instruction|before the first FROM"):
            read_stages(text)


def test_both_stages_have_the_same_image_and_the_last_one_takes_only_the_packages() -> None:
    assert BUILD.image == FINAL.image
    assert "/" not in FINAL.image
    assert [copy.words for copy in FINAL.all("COPY") if copy.options] == [["/opt/sage", "/opt/sage"]]
    assert [copy.options for copy in FINAL.all("COPY") if copy.options] == [{"from": BUILD.name}]


def test_the_packages_are_those_of_the_lock_without_extras_and_without_gpl() -> None:
    (install,) = [run.text for run in BUILD.all("RUN") if "pip install" in run.text]
    assert install == "/opt/sage/bin/pip install --no-deps --require-hashes -r /tmp/requirements.lock"
    assert any("bin/psql" in run.text and "libreadline*" in run.text for run in BUILD.all("RUN"))


def test_everything_that_is_copied_is_there_and_all_packages_of_sage_are() -> None:
    copied = [copy.words for copy in (*BUILD.all("COPY"), *FINAL.all("COPY")) if not copy.options]
    sources = {source for words in copied for source in words[:-1]}
    assert all((PROJECT / source).exists() for source in sources)
    runtime = {"coaching", "sage", "sessions_app", "skills", "static", "templates", "locale", "manage.py"}
    assert runtime | {"pyproject.toml", "LICENSE", "NOTICE"} <= sources
    assert not {".", "tests", "docs"} & sources
    ignored = [
        line for line in (PROJECT / ".dockerignore").read_text().splitlines() if not line.startswith("#")
    ]
    assert ignored == ["*", *(f"!{source}" for source in sorted(sources)), "**/__pycache__"]


def test_all_files_of_the_last_stage_can_be_read_by_its_user() -> None:
    *_, last = FINAL.all("RUN")
    assert last.text.startswith("chmod -R a+rX . && ")
    assert FINAL.instructions.index(last) > FINAL.instructions.index(FINAL.all("COPY")[-1])


def test_it_runs_as_a_user_by_number_and_the_commands_are_lists() -> None:
    (user,) = FINAL.all("USER")
    number, group = user.text.split(":")
    assert int(number) == int(group) > 1000
    after = FINAL.instructions[FINAL.instructions.index(user) :]
    assert "RUN" not in {each.name for each in after}
    (entry,), (command,) = FINAL.all("ENTRYPOINT"), FINAL.all("CMD")
    assert entry.words == ["python", "manage.py"]
    assert command.words[0] == "web"
    (health,) = FINAL.all("HEALTHCHECK")
    assert health.text == 'CMD ["python", "deploy/healthcheck.py"]'


@pytest.mark.slow
@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (None, 1)])
@pytest.mark.parametrize(("hosts", "host"), [("sage.example,b", "sage.example"), ("*", "localhost")])
def test_the_health_check_asks_for_a_host_that_sage_accepts(
    status: int | None, code: int, hosts: str, host: str
) -> None:
    asked: list[tuple[str, str | None]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Host"]))
            self.send_response(status or 500)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        if status is None:
            server.shutdown()
            server.server_close()
        script = (PROJECT / "deploy" / "healthcheck.py").read_text().replace("PORT = 8000", f"PORT = {port}")
        done = subprocess.run([sys.executable, "-I", "-c", script], env={"ALLOWED_HOSTS": hosts}, check=False)
        server.shutdown()
    assert done.returncode == code
    assert asked == ([] if status is None else [("/healthz", host)])
