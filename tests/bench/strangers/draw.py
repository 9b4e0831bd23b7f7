"""Draws a sample of files before any of them was read: `python -m tests.bench.strangers.draw CLONES [fresh]`.

The folder has a clone of each repository under its owner's and its own name.
"""

import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.bench.strangers.clones import FRESH, SAMPLE, Member, git, members
from tests.bench.strangers.references import FEWEST_CHARACTERS, pdf_pages

SEED, FRESH_SEED = 28, 29
FRESH_SHARE = 3
"""The second sample has one of so many files of each kind, or all that are left."""
TEST_FILES = {
    "Unstructured-IO/unstructured": r"example-docs/",
    "apache/tika": r".*/src/test/resources/",
    "eea/odfpy": r"(tests|samples|contrib|examples)/",
    "mozilla/pdf.js": r"test/pdfs/",
    "ocrmypdf/OCRmyPDF": r"tests/resources/",
}
KINDS = {
    "pdf": "pdf", "docx": "docx docm dotx", "xlsx": "xlsx xlsm xltx", "pptx": "pptx pptm ppsx", "odt": "odt",
    "ods": "ods", "odp": "odp", "eml": "eml", "msg": "msg", "rtf": "rtf", "html": "html htm",
    "csv": "csv tsv", "txt": "txt md", "vtt": "vtt srt", "image": "png jpg jpeg tif tiff gif webp bmp",
}  # fmt: skip
QUOTAS = {
    "mozilla/pdf.js": {"form": 28, "mixed": 1, "pdf": 36},
    "ocrmypdf/OCRmyPDF": {"mixed": 1, "pdf": 17, "image": 3},
    "apache/tika": {
        "pdf": 18, "docx": 17, "xlsx": 12, "pptx": 10, "odt": 10, "ods": 3, "odp": 3, "eml": 6, "msg": 10,
        "rtf": 5, "html": 8, "csv": 3, "txt": 7, "vtt": 3, "image": 3,
    },
    "Unstructured-IO/unstructured": {
        "pdf": 14, "docx": 8, "xlsx": 5, "pptx": 5, "odt": 2, "eml": 20, "msg": 4, "rtf": 1, "html": 6,
        "csv": 4, "txt": 6, "image": 4,
    },
    "eea/odfpy": {"odt": 10, "ods": 4, "odp": 3},
}  # fmt: skip
"""How many of each kind; 300 together. PDFs with a form are a kind of their own where there are hundreds,
and so are the only two in which pages of text follow pictures of pages."""
_KIND_OF = {suffix: kind for kind, suffixes in KINDS.items() for suffix in suffixes.split()}


def main(folder: str, which: str = "") -> None:
    """Write the list."""
    is_fresh = which == "fresh"
    read = {(member.repository, member.path) for member in members()} if is_fresh else set()
    chosen: list[Member] = []
    for repository, quotas in QUOTAS.items():
        by_kind: dict[str, list[Member]] = defaultdict(list)
        for member in _candidates(Path(folder), repository, splits_pdfs="mixed" in quotas):
            if (repository, member.path) not in read:
                by_kind[member.kind].append(member)
        for kind, quota in quotas.items():
            found = sorted(by_kind[kind])
            count = min(-(-quota // FRESH_SHARE), len(found)) if is_fresh else quota
            chosen += random.Random(f"{FRESH_SEED if is_fresh else SEED} {repository} {kind}").sample(
                found, count
            )
    target = FRESH if is_fresh else SAMPLE
    target.write_text("".join(member.line() for member in sorted(chosen)))


def _candidates(clones: Path, repository: str, *, splits_pdfs: bool) -> Iterator[Member]:
    """Yield the test files of the kinds, each content once; without those that the clone lacks."""
    clone = clones / repository
    commit = git(clone, "rev-parse", "HEAD").decode().strip()
    seen: set[str] = set()
    for line in git(clone, "ls-tree", "-r", "-l", "-z", commit).decode().split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, _, blob, size = head.split()
        kind = _KIND_OF.get(path.rpartition(".")[2].lower(), "")
        is_file = mode != "120000" and size.isdigit() and size != "0"  # no link, and not missing
        if not kind or not is_file or blob in seen or not re.match(TEST_FILES[repository], path):
            continue
        seen.add(blob)
        member = Member(kind, repository, commit, path)
        is_split = kind == "pdf" and splits_pdfs
        yield replace(member, kind=_kind_of_pdf(member.data(clones))) if is_split else member


def _kind_of_pdf(data: bytes) -> str:
    if b"/AcroForm" in data:
        return "form"
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        Path(file.name).write_bytes(data)
        pages, pictures = pdf_pages(Path(file.name))
    has_text = any(sum(map(str.isalnum, page)) >= FEWEST_CHARACTERS for page in pages)
    return "mixed" if pictures and has_text else "pdf"


if __name__ == "__main__":
    main(*sys.argv[1:])
