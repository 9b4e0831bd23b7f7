"""A web process in which two threads read a folder's files all the time while it contains a file `go`."""

import sys
import threading
import time
from pathlib import Path

import django

django.setup()

# Django's models can be imported now, not before.
from coaching.library.pipeline.extraction import extract_now  # noqa: E402 - needs Django set up
from sage.web_process import serve  # noqa: E402 - needs Django set up

THREADS = 2


def read_all(folder: Path) -> None:
    """Read the files again and again."""
    while True:
        for path in sorted(folder.iterdir()):
            while not (folder / "go").exists():
                time.sleep(0.05)
            with path.open("rb") as file:
                extract_now(file, size=path.stat().st_size, name=path.name)


def main(port: str, folder: str) -> None:
    """Serve until the process is ended."""
    for _ in range(THREADS):
        threading.Thread(target=read_all, args=(Path(folder),), daemon=True).start()
    serve(host="127.0.0.1", port=int(port), on_ready=lambda _url: None, warn=lambda _sentence: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
