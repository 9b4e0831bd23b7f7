"""Help lines are never asked about first: neither the tool's kind nor a tier makes the call wait."""

from coaching.tools.show_help_lines import SHOW_HELP_LINES
from coaching.tools.tiers import CHAT


def test_showing_help_lines_waits_for_nobody() -> None:
    assert SHOW_HELP_LINES.kind == "instant"
    assert SHOW_HELP_LINES.kind not in CHAT.waiting_kinds
    assert SHOW_HELP_LINES.answer is None
