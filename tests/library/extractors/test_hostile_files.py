"""Hostile files end in time, with an outcome and a sentence, and cost this process little."""

import io
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import LIMITS, MAX_BYTES, extract_now
from coaching.sandbox.host import START_SECONDS
from tests.library.extractors import files, open_documents, outlook
from tests.library.extractors.hostile import (
    HOSTILE,
    MEGABYTE,
    SECRET,
    external_entity,
    external_entity_in_a_workbook,
)
from tests.library.extractors.hostile_forms import HOSTILE_FORMS
from tests.patience import patience
from tests.thoroughness import examples, sample_of_day

ALL = {**HOSTILE, **HOSTILE_FORMS}
OUTCOMES = {"text", "no_text", "needs_password", "broken", "refused"}


def read(data: bytes, name: str = "upload") -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name=name)


@pytest.fixture(scope="module", autouse=True)
def _started() -> None:
    """Start a process, so that the others' time is their own."""
    assert read(b"A lease").outcome == "text"


@pytest.mark.parametrize("kind", sample_of_day(list(ALL), of_each=3))
def test_a_hostile_file_ends_in_time_with_its_outcome(kind: str) -> None:
    make, outcome, sentence = ALL[kind]
    data = make()
    began = time.monotonic()
    found = read(data)
    # After a killed one, the next process has to start.
    assert time.monotonic() - began < LIMITS.seconds + START_SECONDS / 10 * patience()
    assert found.outcome == (outcome or found.outcome)
    assert found.sentence.startswith(sentence)
    assert found.outcome in OUTCOMES
    assert found.sentence or found.outcome == "text"
    assert read(b"A lease").outcome == "text", "the next one is read"


@pytest.mark.parametrize("before", ["", f"<!-- {'x' * 5_000} -->"])
def test_no_entity_is_loaded(tmp_path: Path, before: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    for data in (
        external_entity(str(secret), before=before),
        external_entity_in_a_workbook(str(secret)),
        f"<!doctype html [<!ENTITY x SYSTEM 'file://{secret}'>]><p>Lease &x;<embed src='{secret}'>".encode(),
    ):
        found = read(data)
        assert SECRET not in found.text
        assert found.outcome in OUTCOMES


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.pdf"
    with path.open("wb") as file:
        file.truncate(200 * MEGABYTE)
    with path.open("rb") as file:
        found = extract_now(file, size=200 * MEGABYTE, name="large.pdf")
        assert file.tell() == 0
    assert (found.outcome, found.sentence) == ("refused", "This file is too large.")


def test_a_large_file_costs_this_process_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES)
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            found = extract_now(file, size=MAX_BYTES, name="large.txt")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.outcome == "refused"
    assert peak < MEGABYTE


STARTS = (
    b"", b"%PDF-1.7\n", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"WEBVTT\n\n", b"From: a\n",
    b"<html>", b"GIF89a", b"II*\x00", b"RIFF\x00\x00\x00\x00WEBP", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
)  # fmt: skip
started = st.builds(bytes.__add__, st.sampled_from(STARTS), st.binary(max_size=2_000))
WHOLE = (
    files.pdf([["A lease"]]),
    files.docx(),
    files.xlsx(),
    files.pptx(),
    open_documents.odt(),
    open_documents.ods(),
    open_documents.odp(),
    outlook.msg(),
    files.eml(),
    files.HTML,
    files.VTT,
)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    """Draw a file with some bytes changed, and often without its end."""
    data = bytearray(draw(st.sampled_from(WHOLE)))
    for place, byte in draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=30)):
        data[place % len(data)] = byte
    return bytes(data[: draw(st.integers(1, 2 * len(data)))])


@given(st.one_of(started, damaged_files()))
@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_have_an_outcome(data: bytes) -> None:
    found = read(data)
    assert found.outcome in OUTCOMES
    assert (found.outcome == "text") == bool(found.text.strip())
    assert found.sentence or found.outcome == "text"
    assert not set(found.text) & {"\0", "\ufeff"}
    assert len(found.pages_read) in (0, len(found.pages))
