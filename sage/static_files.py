"""Static files: collected when a web process starts, served by the process itself.

Names carry a hash of the content, so a browser keeps them for ever and a new version is seen at once. No
script imports another by its name: a bundle is whole, and the page names what it loads later.
"""

import fcntl
import hashlib
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """WhiteNoise whose answers are whole: its file iterator is synchronous, which ASGI can't stream."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()
        response = HttpResponse(content, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


def collect_static_files() -> None:
    """Collect all static files into STATIC_ROOT, unless nothing has changed since the last time."""
    if settings.WHITENOISE_USE_FINDERS:
        return
    root = Path(settings.STATIC_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    mark = root / ".collected"
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fingerprint = _fingerprint()
        if mark.exists() and mark.read_text() == fingerprint:
            return
        call_command("collectstatic", interactive=False, clear=False, verbosity=0)
        mark.write_text(fingerprint)


def _fingerprint() -> str:
    digest = hashlib.sha256(f"{django.__version__} {settings.STORAGES['staticfiles']}\n".encode())
    digest.update(Path(__file__).read_bytes())
    for line in sorted(_describe_sources()):
        digest.update(line.encode())
    return digest.hexdigest()


def _describe_sources() -> Iterator[str]:
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            yield f"{path} {status.st_size} {status.st_mtime_ns}\n"
