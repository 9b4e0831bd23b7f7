"""Static files without a build step: collected when a web process starts, served by the process itself.

Names carry a hash of the content, so a browser keeps them for ever and a new version is seen at once.
"""

import fcntl
import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

_SCRIPT_IMPORT = (
    r"""(?P<matched>(?P<names>\b(?:import|export)\b[^"';]*)["'](?P<url>\.{1,2}/[^"']+)["'])""",
    '%(names)s"%(url)s"',
)
STYLESHEET = "css/sage.css"
_STYLE_IMPORT = re.compile(r'^@import url\("([^"]+)"\) layer\((\w+)\);$', re.MULTILINE)

Sources = Mapping[str, tuple[Storage, str]]


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """Hashed names also where one script imports another: no page runs scripts of two versions."""

    # Django's own switch for this mistakes comments in vendored scripts for imports.
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", (_SCRIPT_IMPORT,)))

    def post_process(self, paths: Sources, *args: Any, **options: Any) -> Iterator[Any]:
        """Hash and compress the collected files, with all styles in one of them."""
        yield from super().post_process({**paths, STYLESHEET: _bundle_styles(paths)}, *args, **options)


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


def _bundle_styles(paths: Sources) -> tuple[Storage, str]:
    """Put what the stylesheet imports in the place of its imports. A `url()` is relative to the bundle."""

    def inline(found: re.Match[str]) -> str:
        imported = posixpath.join(posixpath.dirname(STYLESHEET), found[1])
        return f"@layer {found[2]} {{\n{_read_text(*paths[imported])}}}"

    bundle = InMemoryStorage()
    bundle.save(STYLESHEET, ContentFile(_STYLE_IMPORT.sub(inline, _read_text(*paths[STYLESHEET]))))
    return bundle, STYLESHEET


def _read_text(storage: Storage, path: str) -> str:
    with storage.open(path) as file:
        return bytes(file.read()).decode()


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
