"""The tools of a conversation, each in a file of its own.

The order is fixed and part of the cached prompt: a new tool goes to the end. Tools don't know each other.
"""

from coaching.engine.tools import Toolset
from coaching.tools.context import ToolContext
from coaching.tools.read_file import READ_FILE
from coaching.tools.save_file import SAVE_FILE

CHAT_TOOLS: Toolset[ToolContext] = Toolset((SAVE_FILE, READ_FILE))
