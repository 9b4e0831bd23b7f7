"""A web process: the application on the launcher. `up` and `web` differ in what runs before."""

import asyncio
import errno
import socket
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext

from channels.routing import get_default_application
from django.conf import settings
from django.http.request import validate_host
from django.urls import get_resolver
from django.utils.translation import gettext, override

from coaching.files.objects import warm_storage
from coaching.jobs.worker import JobWorker
from coaching.live.runner import get_runner
from coaching.live.upkeep import kept_up
from coaching.model_client.servers import model_server
from coaching.people.languages import browser_language
from coaching.sandbox.markdown import warm_markdown
from coaching.supervision import supervisor
from coaching.views.programs import PROGRAM_PATHS
from sage.claim import DatabaseClaim
from sage.clients import uploader_of
from sage.env import StartError
from sage.env_values import is_local
from sage.http_limits import HttpLimits
from sage.launcher import Lifecycle, run_web_server
from sage.mail import send_last
from sage.programs import count_unknown, refused_early
from sage.telemetry import start_telemetry

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
MAX_PORT = 65535
LAST_MAILS_SECONDS = 2.0
OTHER_PROCESS_WARNING = (
    "Another web process runs on this database, and REDIS_URL is unset. Nothing gets lost, but its changes "
    "appear here a quarter of a second later, and each process counts sign-in attempts by itself. "
    "Set REDIS_URL for all of them, or run only one."
)


def add_address_arguments(parser: ArgumentParser) -> None:
    """Add `--host` and `--port`."""
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help="the address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--port", default=DEFAULT_PORT, type=_port, help="the port (default: %(default)s; 0: a free one)"
    )


def check_address(host: str, port: int) -> None:
    """Check early that the address is free. Raises `StartError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"port {port} on {host} is in use: stop what uses it, or choose another with --port."
            ) from None
        raise StartError(
            f"{host} port {port} can't be opened ({error.strerror}): set --host or --port."
        ) from None


def close_signup_off_loopback(host: str) -> None:
    """Close sign-up if other machines reach the address, whatever Host they send, unless set to open."""
    if not (settings.ENVIRONMENT.is_signup_chosen or is_local(host)):
        settings.SAGE_SIGNUP = "closed"


def serve(
    *,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    warn: Callable[[str], None],
    has_worker: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` gets the URL. Raises `StartError`.

    `warn` gets a sentence if the process won't run as the operator may expect. `has_worker`: background jobs
    run in this process, too, and end with it.
    """
    close_signup_off_loopback(host)
    start_telemetry(warn)
    worker = JobWorker() if has_worker else None
    _warm_up()

    @asynccontextmanager
    async def service() -> AsyncIterator[None]:
        async with _own_turns(warn), worker or nullcontext():
            yield

    async def drain(seconds: float) -> None:
        ending = [worker.stop()] if worker else []
        await asyncio.gather(get_runner().drain(seconds), *ending)

    application = get_default_application()
    try:
        run_web_server(
            application,
            host=host,
            port=port,
            is_behind_proxy=settings.IS_BEHIND_HTTPS,
            limits=_http_limits(),
            lifecycle=Lifecycle(
                service=service,
                drain=drain,
                on_ready=lambda open_port: on_ready(_address(host, open_port)),
            ),
        )
    finally:
        send_last(LAST_MAILS_SECONDS)


def _warm_up() -> None:
    """Do before the first request what would delay it, or the first turn."""
    warm_markdown()
    warm_storage()
    # Else the first request imports all pages, for about a second in which nobody else is answered.
    _ = get_resolver().url_patterns
    model_server()


def _http_limits() -> HttpLimits:
    return HttpLimits(
        uploads=settings.SAGE_UPLOAD_BYTES,
        programs=PROGRAM_PATHS,
        refused=refused_early,
        unknown=count_unknown,
        uploader_of=uploader_of,
        translated=translated,
    )


@asynccontextmanager
async def _own_turns(warn: Callable[[str], None]) -> AsyncIterator[None]:
    """Keep the runner up, as the only web process or one of several."""
    claim = DatabaseClaim()
    is_alone = await asyncio.to_thread(claim.take)
    if not (is_alone or settings.REDIS_URL):
        warn(OTHER_PROCESS_WARNING)
    keeping = supervisor.keep("claim", claim.keep)
    try:
        async with kept_up(get_runner(), is_alone=is_alone, can_notify=bool(settings.REDIS_URL)):
            yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await asyncio.to_thread(claim.give_back)


def _address(host: str, port: int) -> str:
    """Return where a browser reaches the pages: by a name that ALLOWED_HOSTS has."""
    here = _browsable(host)
    if not validate_host(here, settings.ALLOWED_HOSTS):
        if origin := next((each for each in settings.CSRF_TRUSTED_ORIGINS if "*" not in each), ""):
            return f"{origin}/"
        here = settings.ALLOWED_HOSTS[0].lstrip(".")
    return f"http://{here}:{port}/"


def _browsable(host: str) -> str:
    if host in {"0.0.0.0", "::", "127.0.0.1"}:  # noqa: S104
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise ArgumentTypeError(f"must be a number from 0 to {MAX_PORT}, not {text!r}")
    return int(text)


def translated(sentence: str, accepted: str) -> str:
    """Return an error in the language of a browser that sends this `Accept-Language`."""
    with override(browser_language(accepted)):
        return gettext(sentence)
