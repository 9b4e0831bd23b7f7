"""What a filter leaves out of a reply is neither shown nor recorded as its text."""

import pytest

from coaching.engine.events import NoteDelta
from tests.engine.upstream import RESET, Answer, Bench, call, end, saying, start, thinking, words


class WithoutBrackets:
    """Leaves out what is in brackets, as soon as they close; shows an open one at the end."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        shown = ""
        for character in text:
            if character == "[" or self._held:
                self._held += character
            else:
                shown += character
            if character == "]":
                self._held = ""
        return shown

    def close(self) -> str:
        return self._held

    @property
    def has_claims(self) -> bool:
        return False

    async def check(self) -> str:
        return ""


async def test_what_is_left_out_is_kept_in_the_blocks_only(bench: Bench) -> None:
    bench.upstream.script(
        Answer(start() + words(0, "Go", "od [", "x", "x] mor", "ning [1") + end("end_turn"))
    )
    await bench.part(bracket_filter=WithoutBrackets)
    assert bench.shown() == "Good  morning [1"
    [recorded] = bench.recorder.rounds
    assert recorded.text == "Good  morning [1"
    assert recorded.blocks == ({"type": "text", "text": "Good [xx] morning [1"},)


async def test_each_round_and_its_notes_have_a_filter_of_their_own(bench: Bench) -> None:
    bench.tool("save_file")
    first = start() + words(0, "One [a") + call(1, "t", "save_file", {"path": "a"}) + end("tool_use")
    bench.upstream.script(
        Answer(first),
        Answer(start("msg_2") + thinking(0, "Note [b", "b] it [c") + words(1, "two [d]") + end("end_turn")),
    )
    await bench.part(bracket_filter=WithoutBrackets)
    assert bench.shown() == "One [atwo "
    assert bench.shown(NoteDelta) == "Note  it [c"
    assert [(row.text, row.notes) for row in bench.recorder.rounds] == [
        ("One [a", ""),
        ("two ", "Note  it [c"),
    ]


async def test_a_retried_round_forgets_what_was_held(bench: Bench) -> None:
    bench.upstream.script(
        Answer(start() + words(0, "Lost [held", is_closed=False), RESET), saying("Found [x] it")
    )
    await bench.part(bracket_filter=WithoutBrackets)
    [recorded] = bench.recorder.rounds
    assert recorded.text == "Found  it"


@pytest.mark.parametrize("text", ["[all of it]", "[", "a [b"])
async def test_a_part_ends_with_what_was_held(bench: Bench, text: str) -> None:
    bench.upstream.script(saying(text))
    result = await bench.part(bracket_filter=WithoutBrackets)
    assert bench.shown() == ("" if text.endswith("]") else text)
    assert result.user_message == ("Nothing more to say." if text.endswith("]") else None)
