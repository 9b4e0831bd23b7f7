"""Replies with old blocks, well-formed and broken, for property tests."""

import re

from hypothesis import strategies as st

from coaching.legacy_text.tags import BLOCK_NAMES

PIECES = (
    '[FILE_UPDATE type="domain" name="Career / Work"]', '[file_update type="overview"]', "[/FILE_UPDATE]",
    "[FILE_UPDATE type=\"domain\" name='care", '[FILE_UPDATE name="a [b] c" type=capture', "[FILE_UPDATE",
    "[SUGGESTED_REPLIES]", "[/SUGGESTED_REPLIES]", "- yes\n- no\n", "later | sooner", "[DAY_PLAN_DATA]",
    "[/Day_Plan_Data]", '{"intention": "slowly", "priorities": ["one", "two"]}', "[ENTER_MODE: open_day]",
    "[ENTER_MODE: quick]", "[SESSION_COMPLETE]", "[session_complete", "[ [/", "[", "[SESSION_COM", "]",
    "/", "FILE_",
    "UPDATE]", "SESSION_COMPLETE", "\n", "\n\n", "\r\n", " ", "  ", "    ", "- ", "1. ", "> ", "```", "```\n",
    "~~~~\n", "`", "word", "other words", "ünï", "*", "**", "# ", "\u200b", "|", "---", "<b>", "&amp;",
    "!", "(a)",
)  # fmt: skip

REPLIES = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)

RAW_TAG = re.compile(rf"\[\s*/?\s*(?:{'|'.join(BLOCK_NAMES)})(?![A-Za-z0-9_])", re.IGNORECASE)
