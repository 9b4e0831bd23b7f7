"""The text blocks of old conversations, which stood for what tools do today.

`strip_block_tags` guards every prompt: an old tag in a file or message must not teach the model the old
format. The text between two tags is somebody's own and stays. It applies no block and writes nothing.
"""

import re

BLOCK_NAMES = ("FILE_UPDATE", "SUGGESTED_REPLIES", "DAY_PLAN_DATA", "ENTER_MODE", "SESSION_COMPLETE")

_NAME = re.compile(rf"(?:{'|'.join(BLOCK_NAMES)})(?![A-Za-z0-9_])", re.IGNORECASE)
_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))  # the ideographic space is the last one
_BEFORE_NAME = f"{_SPACES}\u200b\u200c\u200d[/"
_VALUE = r"""(?:"[^"\n]*+"?|'[^'\n]*+'?|[^\s"'\]]++)"""
# The end of a tag, or what looks like the attributes of one that never ends.
_REST = re.compile(
    r"(?:[^\[\]\n]{0,300}+\]"
    rf"|(?:[ \t]*+:[ \t]*+\w++)?(?:[ \t]++\w++[ \t]*+=[ \t]*+{_VALUE})*+)[ \t]*+"
)


def strip_block_tags(text: str) -> str:
    """Return the text without the tags of old blocks, malformed ones included.

    Each leaves a space behind, and brackets that open before one go with it: so no new tag can come together
    out of what stood around one. Every character is looked at a few times, whatever the text is made of.
    """
    if "[" not in text:
        return text
    left, done, seen = [], 0, 0
    for name in _NAME.finditer(text):
        if name.start() < done:
            continue  # in a tag's attributes
        start = max(done, seen)
        seen = name.end()
        before = text[start : name.start()]
        words = before.rstrip(_BEFORE_NAME)
        blank, bracket, _ = before[len(words) :].partition("[")
        if bracket:
            left += [text[done:start], (words + blank).rstrip(" \t"), " "]
            rest = _REST.match(text, seen)
            done = rest.end() if rest else seen
    return "".join([*left, text[done:]])
