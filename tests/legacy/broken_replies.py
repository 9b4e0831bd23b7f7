"""Replies whose blocks a model once wrote wrongly, of every kind that the parser's tests know."""

import random

from tests.legacy_text.replies import PIECES

SHARE = 0.04
"""Of a generated export's replies."""

BROKEN = (
    # Never closed, never opened, closed twice.
    'Noted. [FILE_UPDATE type="overview"]\nAll of it.',
    "Noted. [/FILE_UPDATE] And on.",
    '[FILE_UPDATE type="overview"]a[/FILE_UPDATE]b[/FILE_UPDATE]',
    "Cut [SUGGESTED_REPLIES]\nYes",
    # Nested, and closed in the wrong order.
    '[FILE_UPDATE type="overview"]a[SUGGESTED_REPLIES]x\ny[/SUGGESTED_REPLIES]b[/FILE_UPDATE]',
    '[FILE_UPDATE type="life-plan"]a[FILE_UPDATE type="overview"]b[/FILE_UPDATE]c[/FILE_UPDATE]',
    '[FILE_UPDATE type="overview"]a[SUGGESTED_REPLIES]x\ny[/FILE_UPDATE][/SUGGESTED_REPLIES]',
    "[SUGGESTED_REPLIES]" * 40 + "x\ny" + "[/SUGGESTED_REPLIES]" * 40,
    # Mis-cased, spaced, decorated.
    "[file_update TYPE='domain' name=health]\nBody.\n[/File_Update]",
    '[ FILE_UPDATE type="domain" name="health"\nBody.\n[ / FILE_UPDATE ]',
    "a [**ENTER\\_MODE: open_day**] b",
    "[Session_Complete]",
    # Broken attributes.
    "[FILE_UPDATE]a[/FILE_UPDATE]",
    '[FILE_UPDATE type="poem"]a[/FILE_UPDATE]',
    '[FILE_UPDATE type="domain" name="Health [mine]" status="Needs attention" x="y"]\nBody.\n[/FILE_UPDATE]',
    "[FILE_UPDATE type=“domain” name=“health”]\nBody.\n[/FILE_UPDATE]",
    '[FILE_UPDATE type="domain" name=\'care\nBody.\n[/FILE_UPDATE]',
    '[FILE_UPDATE type="overview"][/FILE_UPDATE]',
    # Broken contents.
    "[DAY_PLAN_DATA]{a}[/DAY_PLAN_DATA]",
    "[DAY_PLAN_DATA][1][/DAY_PLAN_DATA]",
    "[DAY_PLAN_DATA]" + '{"a":' * 500 + "1" + "}" * 500 + "[/DAY_PLAN_DATA]",
    "[SUGGESTED_REPLIES]a[/SUGGESTED_REPLIES]",
    "[ENTER_MODE: poems] [ENTER_MODE]",
    # Nothing but a block, so that no text is left.
    "[SESSION_COMPLETE]",
    "[ENTER_MODE: open_day][SESSION_COMPLETE]",
    # In code, before it, behind it, and in code that is never closed.
    "```\n[SESSION_COMPLETE]\n```\n[SESSION_COMPLETE]",
    "[SESSION_COMPLETE]```\n[ENTER_MODE: x]\n```",
    '~~~ text\n[FILE_UPDATE type="overview"]\na\n[/FILE_UPDATE]\n',
    'So:\n[FILE_UPDATE type="overview"]\n```\n[/FILE_UPDATE]\n```\n[/FILE_UPDATE]',
    "``` a [SESSION_COMPLETE] ```",
    # Tags that were cut.
    "Cut [FILE_UPD",
    "Cut [FILE_UPDATE type=",
    "Cut [session_complete",
    "[ [/",
)


def broken_reply(chance: random.Random) -> str:
    """Return one of the known replies, or one of pieces that nobody has put together yet."""
    if chance.random() < 0.5:
        return chance.choice(BROKEN)
    pieces = "".join(chance.choices(PIECES, k=chance.randint(1, 14)))
    return pieces if pieces.strip() else BROKEN[0]
