"""Compares reading PDFs in the sandbox with the library alone, and what hostile files cost a web process.

  uv run --group bench python -m tests.bench.extraction [pdfs] [web]

`web` starts a database, an upstream that answers at once, and a web process in which two threads read hostile
files all the time, as the jobs of `up` do. The web process and those that read files share a core.
"""

import argparse
import asyncio
import io
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pypdfium2

from coaching.library.extractors import pdf
from coaching.library.pipeline.extraction import extract_now
from tests.bench.relay.load import first_token_ms, percentile
from tests.bench.relay.machine import Machine, Server, free_port
from tests.bench.relay.product import MANAGE, Product, open_product
from tests.library.extractors import files
from tests.library.extractors.hostile import HOSTILE
from tests.printing import say

DOCUMENTS = 100
PAGES = 10
LINES = 50
TURNS = 22  # the first two of a round don't count
ROUNDS = 3
LINE = "The tenant shall pay the rent of {number} on the first day of each month."


def main() -> None:
    """Run the measurements and print their rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.extraction")
    parser.add_argument("rows", nargs="*", default=["pdfs", "web"])
    chosen = parser.parse_args().rows
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, pypdfium2 {pypdfium2.PYPDFIUM_INFO}")
    if "pdfs" in chosen:
        for row in _compare():
            say(row)
    if "web" in chosen:
        with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
            _measure_web(Path(name))


def _compare() -> Iterator[str]:
    documents = [_document(place) for place in range(DOCUMENTS)]
    extract_now(io.BytesIO(documents[0]), size=len(documents[0]), name="first.pdf")
    began = time.perf_counter()
    alone = [pdf.extract(document).pages for document in documents]
    seconds = time.perf_counter() - began
    yield f"{DOCUMENTS} PDFs of {PAGES} pages, the library alone: {seconds:.2f} s"
    began = time.perf_counter()
    read = [extract_now(io.BytesIO(data), size=len(data), name="a.pdf").pages for data in documents]
    sandboxed = time.perf_counter() - began
    ratio = sandboxed / seconds
    yield f"the same, each in a process of its own: {sandboxed:.2f} s, {ratio:.2f} × the library alone"
    assert [len(pages) for pages in read] == [len(pages) for pages in alone]


def _document(number: int) -> bytes:
    lines = [LINE.format(number=number * line) for line in range(LINES)]
    return files.pdf([[f"Page {page}", *lines] for page in range(PAGES)])


def _measure_web(folder: Path) -> None:
    hostile = folder / "hostile"
    hostile.mkdir()
    for number, (make, _, _) in enumerate(HOSTILE.values()):
        (hostile / str(number)).write_bytes(make())
    upstream = free_port()
    with Machine(folder) as machine:
        arguments = ["-m", "tests.bench.relay.upstream", "--port", str(upstream)]
        machine.start("upstream", arguments, port=upstream, is_server=False)
        with open_product(folder, upstream_port=upstream, users=2, sessions=TURNS, files=10) as product:
            port = free_port()
            web = machine.start(
                "web",
                ["-m", "tests.bench.extraction.web", str(port), str(hostile)],
                port=port,
                is_server=True,
                environment={**product.environment, "PYTHONPATH": str(MANAGE.parent)},
            )
            try:
                asyncio.run(_first_tokens(product, web, hostile))
            finally:
                machine.end(web)


async def _first_tokens(product: Product, web: Server, hostile: Path) -> None:
    times: dict[bool, list[float]] = {False: [], True: []}
    addresses = product.fresh.addresses(web.port)[-TURNS:]
    await first_token_ms(addresses)
    memory = most = web.memory_kb()
    for number in range(2 * ROUNDS):
        has_hostile = bool(number % 2)
        (hostile / "go").touch() if has_hostile else (hostile / "go").unlink(missing_ok=True)
        await asyncio.sleep(2 if has_hostile else 12)  # until what runs has ended
        times[has_hostile] += await first_token_ms(addresses)
        most = max(most, web.memory_kb())
    quiet, busy = (percentile(times[has_hostile], 0.95) for has_hostile in (False, True))
    say(f"first token, p95 of {len(times[True])}: {quiet:.1f} ms, with hostile files {busy:.1f} ms")
    say(f"the web process's memory: {memory / 1024:.0f} MB, at most {most / 1024:.0f} MB")


if __name__ == "__main__":
    main()
