"""The running round as one reader of the page sees it: finished blocks formatted, the last one as text.

Blocks are cut as on a reload, so the end of a round changes nothing that is shown. They are cached once they
are rendered: a second tab costs no second rendering.
"""

import re
from html import escape

from coaching import events
from coaching.sandbox.blocks import BlockSplitter
from coaching.sandbox.markdown import render_replies
from coaching.sockets.fragments import off_loop, render_fragment

_LIST = re.compile(r"<(/?)(ul|ol)\b[^>]*>\n?")


class StreamedReply:
    """Turns the events of one reader into frames, with the state that formatting needs."""

    def __init__(self) -> None:
        self._splitter = BlockSplitter()
        self._open_list = ""

    async def frames_of(self, event: events.TurnEvent) -> list[str]:
        """Return an event's frames; none where there is nothing to show."""
        frame = await render_fragment(event)
        frames = [frame] if frame else []
        if isinstance(event, events.TextDelta):
            blocks = self._splitter.feed(event.text)
            return [*frames, await self._render_blocks(blocks)] if blocks else frames
        if isinstance(event, events.Sync):
            self._begin(next((shown.text for shown in event.rounds if not shown.is_finished), ""))
        elif isinstance(event, events.RoundRestarted | events.RoundClosed | events.TurnStarted):
            self._begin("")
        return frames

    def _begin(self, text: str) -> None:
        """Start with the text of a round that the reader has been shown."""
        self._splitter, self._open_list = BlockSplitter(), ""
        self._splitter.feed(text)

    async def _render_blocks(self, blocks: list[str]) -> str:
        """Return the frame that moves blocks out of the text that is being written."""
        rendered = await off_loop(render_replies, blocks)
        parts = [self._placed(rendered[block]) for block in blocks]
        rest = f'<div hx-swap-oob="innerHTML:#live-text">{escape(self._splitter.rest)}</div>'
        return "".join([*parts, rest])

    def _placed(self, markup: str) -> str:
        """Return a block's element, or its items where it continues the list before."""
        name = _only_list(markup)
        before, self._open_list = self._open_list, name
        if name and name == before:
            items = _LIST.sub("", markup, count=1).removesuffix(f"</{name}>\n")
            return f'<div hx-swap-oob="beforeend:#live-blocks > :last-child">{items}</div>'
        return f'<div hx-swap-oob="beforeend:#live-blocks">{markup}</div>'


def _only_list(markup: str) -> str:
    """Return `ul` or `ol` for markup that is one such list, otherwise nothing."""
    depth, name = 0, ""
    for found in _LIST.finditer(markup):
        if depth == 0 and (found.start() > 0 or found[1]):
            return ""
        name = name or found[2]
        depth += -1 if found[1] else 1
        if depth == 0 and found.end() < len(markup):
            return ""
    return name
