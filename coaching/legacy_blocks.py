"""The text blocks of old conversations, which stood for what tools do today.

`strip_block_tags` guards every prompt: an old tag in a file or message must not teach the model the old
format. The text between two tags is somebody's own and stays. It applies no block and writes nothing.
"""

import re

BLOCK_NAMES = ("FILE_UPDATE", "SUGGESTED_REPLIES", "DAY_PLAN_DATA", "ENTER_MODE", "SESSION_COMPLETE")

_HIDDEN = r"[\s\u200b-\u200d]*"
_VALUE = r"""(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'\]]+)"""
# A tag with its end, or one that never ends: then only its name and what looks like its attributes.
_TAG = re.compile(
    rf"[ \t]*\[{_HIDDEN}/?{_HIDDEN}(?:{'|'.join(BLOCK_NAMES)})(?![A-Za-z0-9_])"
    rf"(?:[^\[\]\n]{{0,300}}\]|(?:[ \t]*:[ \t]*\w+)?(?:[ \t]+\w+[ \t]*=[ \t]*{_VALUE})*)[ \t]*",
    re.IGNORECASE,
)


def strip_block_tags(text: str) -> str:
    """Return the text without the tags of old blocks, malformed ones included.

    Each leaves a space behind, so that no new tag can come together out of what stood around one.
    """
    return _TAG.sub(" ", text) if "[" in text else text
