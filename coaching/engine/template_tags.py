"""The tags that open models' templates are made of. A tag is looked up in small letters. No I/O."""

REASONING = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning", "reflection")},
    "[think]": "[/think]",
}
REASONING_ENDS = frozenset(REASONING.values())
_WORDY_CALLS = {
    f"<{name}>": f"</{name}>" for name in ("tool_call", "tool_calls", "function_call", "tool_use")
}
WORDY_CALLS = frozenset(_WORDY_CALLS)
"""What prose may name, too."""
CALLS = {
    **_WORDY_CALLS,
    "<function=": "</function>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|python_tag|>": "<|/python_tag|>",
    "[tool_calls]": "[/tool_calls]",
}
HEADERS = frozenset({"<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start_of_role|>"})
"""A role's name follows in words."""
OTHERS_TURNS = frozenset({"<|user|>", "<|system|>", "<｜user｜>", "[inst]"})
_OTHER_ROLES = """
<|im_end|> <|eot_id|> <|eom_id|> <|end_header_id|> <|begin_of_text|> <|end_of_text|> <|endoftext|> <|end|>
<|assistant|> <|end_of_role|> <end_of_turn> <eos> </s> [/inst] <｜end▁of▁sentence｜> <｜assistant｜>
"""
ROLES = frozenset(_OTHER_ROLES.split()) | HEADERS | OTHERS_TURNS
ENDS = ROLES | REASONING_ENDS
"""What ends a turn or reasoning."""
OWN_ROLES = frozenset({"assistant", "model"})
OTHERS_ROLES = frozenset({"user", "system", "tool", "human"})
LONGEST_ROLE = max(map(len, OWN_ROLES | OTHERS_ROLES))
STRUCK, STRUCK_END = "<s>", "</s>"
"""What is struck through in HTML; without the first one, the second is a role token."""

TAGS = ROLES.union([STRUCK], REASONING, REASONING_ENDS, CALLS, CALLS.values())
BEGINNINGS = frozenset(tag[:length] for tag in TAGS for length in range(1, len(tag)))
FIRST = frozenset(tag[0] for tag in TAGS)


def is_in_brackets(tag: str) -> bool:
    """Whether it is a word in brackets, as in "[think]": such tags have capitals."""
    return tag[0] == "[" and tag != tag.upper()
