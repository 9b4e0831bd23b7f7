"""The tools of a conversation, each in a file of its own.

The order is fixed and part of the cached prompt: a new tool goes to the end. Tools don't know each other.
"""

from coaching.engine.tools import Toolset
from coaching.tools.complete_session import COMPLETE_SESSION
from coaching.tools.context import ToolContext
from coaching.tools.enter_structured_arc import ENTER_STRUCTURED_ARC
from coaching.tools.load_skill import LOAD_SKILL
from coaching.tools.read_file import READ_FILE
from coaching.tools.save_file import SAVE_FILE
from coaching.tools.show_options import SHOW_OPTIONS
from coaching.tools.show_pulse_check import SHOW_PULSE_CHECK

CHAT_TOOLS: Toolset[ToolContext] = Toolset(
    (SAVE_FILE, READ_FILE, COMPLETE_SESSION, ENTER_STRUCTURED_ARC, SHOW_OPTIONS, SHOW_PULSE_CHECK, LOAD_SKILL)
)

TOOL_NAMES = frozenset(CHAT_TOOLS.names())
"""Every tool that a model is offered, whatever for: what skills may name."""
