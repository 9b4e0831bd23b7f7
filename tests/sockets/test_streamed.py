"""A reply takes its form while it is streamed: what stands at the end of a round is what a reload shows."""

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coaching.engine.events import TextDelta
from coaching.events import RoundClosed, RoundRestarted, RoundShown, Sync
from coaching.sandbox.markdown import render_replies
from coaching.sandbox.markdown_worker import LIST_JOIN, TABLE_END
from coaching.sockets.fragments import StreamedReply
from tests.thoroughness import examples

REPLY = """# A plan

Some **bold** words,
and <b>more</b>.

- one
- two
  - deep
- [ ] three

1. first
2. second

| a | b |
|---|--:|
| 1 | 2 |
| 3 | *4* |

```python
x = "<i>"
```

The end."""
ADDED = re.compile(r'<div hx-swap-oob="beforebegin:#live-text">(.*)</div>(?=<div hx-swap-oob)', re.DOTALL)
REST = re.compile(r'<div hx-swap-oob="innerHTML:#live-text">(.*?)</div>$', re.DOTALL)
ROWS = re.compile(r"<table>\n(<tbody>\n.*?</tbody>\n)</table>\n", re.DOTALL)


def shown_by(frames: list[str]) -> str:
    """Return the markup of the blocks as the page's script puts them together."""
    shown = ""
    for frame in frames:
        for added in ADDED.findall(frame):
            if rows := ROWS.match(added):
                shown = shown.removesuffix(TABLE_END) + rows[1] + TABLE_END + added[rows.end() :]
                shown = shown.replace("</tbody>\n<tbody>\n", "")
            else:
                shown = LIST_JOIN.sub("", shown + added)
    return shown


async def frames_of(reply: StreamedReply, *texts: str) -> list[str]:
    return [frame for text in texts for frame in await reply.frames_of(TextDelta(text))]


@settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cuts=st.sets(st.integers(1, len(REPLY) - 1), max_size=30))
async def test_all_blocks_together_are_the_rendered_reply(cuts: set[int]) -> None:
    places = [0, *sorted(cuts), len(REPLY)]
    pieces = [REPLY[begin:end] for begin, end in pairwise(places)]
    frames = await frames_of(StreamedReply(), *pieces, "\n\nx")
    assert shown_by(frames) == render_replies([REPLY])[REPLY]


async def test_text_without_a_finished_block_takes_the_quick_path() -> None:
    assert await frames_of(StreamedReply(), "Some **bo") == [
        '<div hx-swap-oob="beforeend:#live-text">Some **bo</div>'
    ]


async def test_what_is_left_of_the_text_follows_escaped() -> None:
    frames = await frames_of(StreamedReply(), "One.\n\n<b>Two", " & three")
    rests = [found[1] for frame in frames if (found := REST.search(frame))]
    assert rests == ["&lt;b&gt;Two"]
    assert frames[-1] == '<div hx-swap-oob="beforeend:#live-text"> &amp; three</div>'


@pytest.mark.parametrize(
    "event",
    [
        RoundRestarted(),
        RoundClosed(turn_id="", number=1, text="", notes=""),
    ],
)
async def test_a_new_round_begins_with_nothing(event: RoundRestarted | RoundClosed) -> None:
    reply = StreamedReply()
    await frames_of(reply, "- one\n- tw")
    await reply.frames_of(event)
    frames = await frames_of(reply, "o\n- three\n")
    assert shown_by(frames) == "<p>o</p>\n"


async def test_a_snapshot_goes_on_where_its_text_ends() -> None:
    reply = StreamedReply()
    rounds = (RoundShown(number=1, text="One.\n\nTw", notes="", is_finished=False),)
    await reply.frames_of(Sync(status="running", rounds=rounds, running={}))
    assert shown_by(await frames_of(reply, "o.\n\n")) == "<p>Two.</p>\n"
