"""Notes about what was left out keep whole sentences, each with true page numbers, where room is short."""

import json

import pytest

from coaching.library.extractors.content_types import WRONG_NAME
from coaching.library.extractors.left_out import DELETED, EMBEDDED, MAX_NOTE, STAMPS, joined_notes, pages_note
from coaching.library.pipeline.extracted import extraction_of
from coaching.library.rows.reading_notes import FROM_PICTURES, PICTURES, with_page_texts

SCATTERED = [number for number in range(1001, 1102) if number % 3 != 1]
"""More ranges than a line names."""


@pytest.mark.parametrize("count", range(1, 5))
def test_without_room_lines_of_pages_name_fewer(count: int) -> None:
    sentences = (DELETED, EMBEDDED, STAMPS, PICTURES)[:count]
    note = joined_notes([pages_note(sentence, SCATTERED) for sentence in sentences])
    lines = note.split("\n")
    assert len(note) <= MAX_NOTE
    assert tuple(lines[::2]) == sentences
    for line in lines[1::2]:
        assert line.startswith(f"{SCATTERED[0]}–")
        assert line.endswith(", …, 1100–1101.")


def test_a_sentence_and_the_line_that_belongs_to_it_stay_or_go_together() -> None:
    long, wrong = "x" * 450, f"{WRONG_NAME}\na PDF."
    assert joined_notes([long, pages_note(DELETED, [3])]) == pages_note(DELETED, [3])
    assert joined_notes([wrong, long]) == wrong
    assert joined_notes(["", pages_note(DELETED, []), "It’s long."]) == "It’s long."


def test_notes_are_joined_in_answers_and_when_pictures_were_read() -> None:
    stamps = pages_note(STAMPS, SCATTERED)
    answer = {
        "outcome": "text",
        "content_type": "application/pdf",
        "text_bytes": 1,
        "sentence": stamps,
        "picture_pages": SCATTERED,
    }
    note = extraction_of(json.dumps(answer).encode() + b"\nx").note
    for each, first in ((note, PICTURES), (with_page_texts(note, read=[1], unread=SCATTERED), PICTURES)):
        assert len(each) <= MAX_NOTE
        assert each.endswith("–1101.")
        lines = each.split("\n")
        assert lines[0] == first
        assert lines[::2] in ([PICTURES, STAMPS], [PICTURES, FROM_PICTURES, STAMPS])
