"""What models without a profile write is cleaned, the same wherever their stream is cut, in linear time."""

import random
import time

import pytest

from coaching.engine.cleaner import Cleaner, Ended
from coaching.engine.shown_pieces import Piece
from coaching.engine.written_calls import WrittenCall

NAMES = frozenset({"save_file", "show_options"})
INPUT = {"path": "a.md", "content": 'She said "{no}"\\'}
ARGUMENTS = r'{"path": "a.md", "content": "She said \"{no}\"\\"}'
CALL = f'{{"name": "save_file", "arguments": {ARGUMENTS}}}'
SAVED = WrittenCall(name="save_file", input=INPUT)
OFFERED = WrittenCall(name="show_options", input={})
SENTENCE = "I am here with you today, my friend. "
BREATHING = "Breathe in slowly.\nHold it.\nBreathe out, as long as you like to, and let go.\n\n" * 20
BREAK_AT = 200

Cleaned = tuple[list[Piece], Ended, tuple[WrittenCall, ...]]


def clean(*parts: str, names: frozenset[str] = NAMES) -> Cleaned:
    cleaner = Cleaner(names)
    pieces: list[Piece] = []
    for piece in [*(piece for part in parts for piece in cleaner.feed(part)), *cleaner.close()]:
        if piece.kind == "void_text":
            pieces = [Piece("thinking", "".join(each.text for each in pieces))]
        elif piece.kind == "void_thinking":
            pieces.pop()
        elif pieces and pieces[-1].kind == piece.kind:
            pieces[-1] = Piece(piece.kind, pieces[-1].text + piece.text)
        else:
            pieces.append(piece)
    return pieces, cleaner.ended, cleaner.calls


def text(words: str) -> list[Piece]:
    return [Piece("text", words)] if words else []


REASONING = {
    "<think>Hm.\n</think>\n\nHello": [Piece("thinking", "Hm.\n"), Piece("text", "Hello")],
    "A.<Reasoning>b</reasoning>c": [Piece("text", "A."), Piece("thinking", "b"), Piece("text", "c")],
    "*Well!* <think>b</think>c": [Piece("text", "*Well!* "), Piece("thinking", "b"), Piece("text", "c")],
    "<thinking>a <think> </b> [x</thinking>": [Piece("thinking", "a <think> </b> [x")],
    "Write <think> before it and </think> after it. Yes?": text(
        "Write <think> before it and </think> after it. Yes?"
    ),
    "Hello</think>you": [Piece("thinking", "Hello"), Piece("text", "you")],
    "a <b> < c [d] <thin": text("a <b> < c [d] <thin"),
    "The tag `<think>` stays": text("The tag `<think>` stays"),
    "In `a <think> b` as in “<think>”": text("In `a <think> b` as in “<think>”"),
    "[Think] about it": text("[Think] about it"),
    "- <s>call Mum</s>\n- the dentist": text("- <s>call Mum</s>\n- the dentist"),
    "```html\n<think>x</think>\n```\n<think>y</think>z": [
        Piece("text", "```html\n<think>x</think>\n```\n"),
        Piece("thinking", "y"),
        Piece("text", "z"),
    ],
    "> ~~~~\n> ~~~\n> <think>": text("> ~~~~\n> ~~~\n> <think>"),
    "```a``` b\n<think>c</think>": [Piece("text", "```a``` b\n"), Piece("thinking", "c")],
}
NEVER_CLOSED = {
    "[THINK]never closed": "never closed",
    "<think>\nThat is a tag.\n\nIt hides.": "That is a tag.\n\nIt hides.",
    "Hello.\n<think>I am here. <think> it says.": "Hello.\nI am here.  it says.",
    "<think>": "",
    "Well.\n<think>\n": "Well.\n\n",
}
OPENED_BY_TEMPLATE = {
    "They greet me.\n</think>\n\nHello": ("They greet me.\n", "Hello"),
    "Hm. I save it.\n<tool_call>{}</tool_call>\n</think>Hello.\n</think>": (
        "Hm. I save it.\n",
        "Hello.\n",
    ),
    "I should greet them </think>Hello": ("I should greet them ", "Hello"),
    "I should greet them </think> \n\nHello": ("I should greet them ", "Hello"),
    "They ask for a heart </think> <3": ("They ask for a heart ", "<3"),
    "They greet me </think>": ("They greet me ", ""),
    "It is <think>, then:\n```\nx\n```\n</think>{1}": ("It is <think>, then:\n```\nx\n```\n", "{1}"),
}
CODE = [
    "1. Do this:\n   ```python\n   <think>\n   ```\n2. Done",
    f"- ```json\n  {CALL}\n  ```",
    "- 1) > ~~~\n<|im_end|>\n~~~\nDone",
    "Do this:\n\n    <think>\n\n    <|im_end|>\n\t<tool_call>{}\n\nDone",
    f"Do this:\n\n    {CALL}",
]
ROLES = {
    "Hello. <think>Hm.<|im_end|>more": "Hello. Hm.",
    "<|im_start|>assistant\nHello<|im_end|>": "Hello",
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>": "Hello",
    "<|im_end|>\n<start_of_turn>model\nHello<end_of_turn>": "Hello",
    "</s> <|assistant|>\nHello</s>": "Hello",
    "<|im_start|>Hello there<|im_end|>": "Hello there",
    "<|im_end|>\n<|im_start|>user\nHi": "",
    "<|user|>\nHi": "",
    "Hello<|im_end|>\n<|im_start|>user\nHi": "Hello",
    "Hello<|eot_id|>more": "Hello",
    "Hello<END_OF_TURN>more": "Hello",
    "Hello</s>": "Hello",
    "<s>Hello</s></s>": "<s>Hello</s>",
    "Use `npm test`<|im_end|>more": "Use `npm test`",
    "Hello. [INST] more [/INST]": "Hello. ",
    "Gern 😊 <|im_end|>": "Gern 😊 ",
    "Here it is <|im_end|>more": "Here it is ",
    "Here it is <|eot_id|>\t \nmore": "Here it is ",
    "Here it is </s>\r\nmore": "Here it is ",
    "Here it is <end_of_turn> <start_of_turn>user\nHi": "Here it is ",
    "```\n<|im_end|>\n```<|im_end|>more": "```\n<|im_end|>\n```",
    '{"name": "Ann<|im_end|>': '{"name": "Ann',
    '{"name": <|im_end|>': '{"name": ',
}
NAMED_ROLES = [
    "Servers end a turn with <|im_end|> or </s> and begin one with <start_of_turn> as you know.",
    "The tag </think> closes it.",
    "They close it by </think>. Others end with </think>, or <|im_end|>: it depends.",
    "| <|im_end|> | the end |\n- <|eot_id|> – the same",
]
CALLS = {
    f"Saved.\n<tool_call>\n{CALL}\n</tool_call>": (text("Saved.\n"), (SAVED,)),
    f"<tool_call>{CALL}": ([], (SAVED,)),
    f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>\n": ([], (SAVED, SAVED)),
    f"<tool_call>[{CALL}]</tool_call>": ([], (SAVED,)),
    f"<function_call>{CALL}</function_call>": ([], (SAVED,)),
    f"<function=save_file>{ARGUMENTS}</function>": ([], (SAVED,)),
    f"[TOOL_CALLS][{CALL}]": ([], (SAVED,)),
    f"[TOOL_CALLS]save_file[ARGS]{ARGUMENTS}": ([], (SAVED,)),
    f"Now:\n {CALL}\n": (text("Now:\n "), (SAVED,)),
    f'{{"type": "function", "function": {CALL}}}': ([], (SAVED,)),
    '{"name": "show_options", "parameters": "{}"}': ([], (OFFERED,)),
    '<tool_call>{"name": "show_options"}</tool_call>': ([], (OFFERED,)),
    f"Well, <tool_call>{CALL}": (text("Well, "), (SAVED,)),
    '<tool_call>{"name": "rm", "arguments": {}}</tool_call>': ([], (WrittenCall(name="rm", input={}),)),
    f"<tool_call>{CALL[:30]}": (
        [],
        (WrittenCall(name="save_file", input={}, broken=f"<tool_call>{CALL[:30]}</tool_call>"),),
    ),
    "<tool_call>show_options\n<arg_key>a</arg_key></tool_call>": (
        [],
        (
            WrittenCall(
                name="show_options",
                input={},
                broken="<tool_call>show_options\n<arg_key>a</arg_key></tool_call>",
            ),
        ),
    ),
}
NO_CALLS = {
    f"<tool_call>{CALL}</tool_call> It is saved.": " It is saved.",
    '<tool_call>{"name": "rm -f"}</tool_call>': '{"name": "rm -f"}',
    "Write <tool_call> and so on": "Write <tool_call> and so on",
    "Write <tool_call></tool_call> or <tool_call>": "Write <tool_call></tool_call> or <tool_call>",
    "<tool_call>\nis a tag.\n</tool_call>\nSo it is.": "\nis a tag.\n\nSo it is.",
    "<tool_call>\nis a tag.": "\nis a tag.",
    f"{CALL}\nIt is saved.": f"{CALL}\nIt is saved.",
    f"I would send {CALL}": f"I would send {CALL}",
    f"```json\n{CALL}\n```": f"```json\n{CALL}\n```",
    f"```\n<tool_call>{CALL}</tool_call>\n```": f"```\n<tool_call>{CALL}</tool_call>\n```",
    CALL[:-1]: CALL[:-1],
    '{"name": "show_options"}': '{"name": "show_options"}',
    '{"name": "save_file", "input": {}, "age": 3}': '{"name": "save_file", "input": {}, "age": 3}',
    '{"name": "rm", "arguments": {}}': '{"name": "rm", "arguments": {}}',
    '{"city": "Rome"}': '{"city": "Rome"}',
}
REPETITIONS = {
    SENTENCE * 460: (SENTENCE * 4).strip(),
    f"First.\n\n{'- ' + SENTENCE.strip()}\n" + f"- {SENTENCE}\n" * 300: "First.\n\n"
    + "\n".join([f"- {SENTENCE.strip()}"] + [f"- {SENTENCE}"] * 3).rstrip(),
    "1. I am here with you today, friend!\n2. I AM here with you, today, friend.\n" * 9: (
        "1. I am here with you today, friend!\n2. I AM here with you, today, friend.\n" * 2
    ).rstrip(),
}
SAMPLES = [*REASONING, *NEVER_CLOSED, *OPENED_BY_TEMPLATE, *CODE, *ROLES, *CALLS, *NO_CALLS]
NO_REPETITIONS = [
    BREATHING,
    "".join(f"Week {week}: run {week} times for {20 + week} minutes each.\n" for week in range(1, 9)),
    "Breathe in.\n" * 500,
    "In. Out. " * 500,
    SENTENCE * 3 + "And so on.",
    f"```\n{SENTENCE}\n" + f"{SENTENCE}\n" * 30 + "```\n" + SENTENCE * 3,
    "It costs 3.5 dollars or so, which is no end of a sentence " * 20,
]


@pytest.mark.parametrize(("written", "pieces"), REASONING.items())
def test_reasoning_in_tags_becomes_thinking(written: str, pieces: list[Piece]) -> None:
    assert clean(written) == (pieces, "", ())


@pytest.mark.parametrize("written", NAMED_ROLES)
def test_a_token_that_a_sentence_names_is_a_word(written: str) -> None:
    assert clean(written) == (text(written), "", ())


@pytest.mark.parametrize(("written", "kept"), ROLES.items())
def test_role_tokens_end_the_answer(written: str, kept: str) -> None:
    assert clean(written) == (text(kept), "role", ())


@pytest.mark.parametrize(("written", "cleaned"), CALLS.items())
def test_a_call_as_the_last_thing_is_read(
    written: str, cleaned: tuple[list[Piece], tuple[WrittenCall, ...]]
) -> None:
    pieces, calls = cleaned
    assert clean(written) == (pieces, "", calls)
    assert clean(f"{written}<|im_end|>\nmore") == (pieces, "role", calls)


@pytest.mark.parametrize(("written", "kept"), NO_CALLS.items())
def test_what_is_no_last_call_never_runs(written: str, kept: str) -> None:
    assert clean(written) == (text(kept), "", ())


@pytest.mark.parametrize("written", CALLS)
def test_no_call_is_read_where_none_may_run(written: str) -> None:
    pieces, ended, calls = clean(written, names=frozenset())
    assert (ended, calls) == ("", ())
    shown = "".join(piece.text for piece in pieces)
    before = written.partition("<")[0].partition("[TOOL_CALLS]")[0]
    assert shown == (written if written.startswith(("{", "Now")) else before)


@pytest.mark.parametrize(("written", "kept"), REPETITIONS.items())
def test_the_fourth_equal_sentence_is_the_last(written: str, kept: str) -> None:
    assert clean(written) == (text(kept), "repetition", ())
    assert clean(f"<think>{written}") == ([Piece("thinking", kept)], "repetition", ())


@pytest.mark.parametrize(("written", "kept"), NEVER_CLOSED.items())
def test_reasoning_that_nothing_closes_was_the_answer(written: str, kept: str) -> None:
    assert clean(written) == (text(kept), "", ())
    cleaner = Cleaner(NAMES)
    cleaner.feed(written)
    assert not any(piece.kind == "void_thinking" for piece in cleaner.close(is_cut=True))


@pytest.mark.parametrize(("written", "pieces"), OPENED_BY_TEMPLATE.items())
def test_reasoning_that_the_template_opened_ends_with_its_tag(written: str, pieces: tuple[str, str]) -> None:
    thought, said = pieces
    assert clean(written) == ([Piece("thinking", thought), *text(said)], "", ())


@pytest.mark.parametrize("written", CODE)
def test_code_in_lists_and_indented_code_stay(written: str) -> None:
    assert clean(written) == (text(written), "", ())


def test_it_is_known_whether_text_follows_the_end() -> None:
    cleaner = Cleaner(NAMES)
    cleaner.feed("Hello<|im_end|>\n")
    assert (cleaner.ended, cleaner.is_over) == ("role", False)
    cleaner.feed(" <|im_start|>")
    assert cleaner.is_over
    cleaner = Cleaner(NAMES)
    cleaner.feed("Here it is <|im_end|>")
    assert cleaner.ended == ""
    cleaner.feed("m")
    assert (cleaner.ended, cleaner.is_over) == ("role", True)


@pytest.mark.parametrize("written", NO_REPETITIONS)
def test_what_is_repeated_on_purpose_stays(written: str) -> None:
    assert clean(written) == (text(written), "", ())


@pytest.mark.slow
@pytest.mark.parametrize("written", [*SAMPLES, *REPETITIONS, *NO_REPETITIONS], ids=lambda w: w[:30])
def test_it_makes_no_difference_where_the_stream_is_cut(written: str) -> None:
    written = written[:BREAK_AT]
    whole = clean(written)
    assert clean(*written) == whole
    for at in range(len(written)):
        assert clean(written[:at], written[at:]) == whole


def test_nor_for_any_mixture_of_them() -> None:
    chance = random.Random(27)
    parts = [*SAMPLES, SENTENCE, "\n", "```", "<", "[", "{", '"', " ", "`", "é"]
    for _ in range(300):
        written = "".join(chance.choices(parts, k=5))
        cuts = sorted(chance.choices(range(len(written) + 1), k=4))
        pieces = [written[a:b] for a, b in zip([0, *cuts], [*cuts, len(written)], strict=True)]
        assert clean(*pieces) == clean(written), written


def test_only_what_may_become_a_tag_is_held_back() -> None:
    cleaner = Cleaner(NAMES)
    shown = "".join(piece.text for letter in "a <b <thinx <th" for piece in cleaner.feed(letter))
    assert shown == "a <b <thinx "
    assert cleaner.close() == text("<th")
    cleaner = Cleaner(NAMES)
    assert cleaner.feed('{"city": "Ro') == text('{"city": "Ro')
    assert cleaner.feed('me"}\n{"name": "sa') == text('me"}\n')
    cleaner = Cleaner(NAMES)
    assert cleaner.feed("It is <|im_end|> ") == text("It is ")
    assert cleaner.feed("a") == text("<|im_end|> a")


WORST = [
    *(
        "<",
        "[",
        "{",
        "`",
        "~",
        " ",
        "\n",
        ".",
        ">",
        '"',
        "</",
        "<tool_cal",
        "<think>",
        "<tool_call>",
        "[tool_",
    ),
    *('{"name":\n', '{"name":"', '{"name":[\n', "{}\n", '{"name":1}\n', "<tool_call></tool_call> ", "```\n"),
    *("word ", "a. ", "a\n", '<tool_call>{"name":', "[tool_calls][", f"{CALL}\n", "> ", "`<think>"),
    *("a <|im_end|>,", "a </think> b ", "a </s>" + " " * 900),
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", WORST)
def test_the_worst_texts_take_linear_time(unit: str) -> None:
    long = unit * (40_000 // len(unit))
    short = unit * (10_000 // len(unit))
    for _ in range(3):
        times = []
        for written in (short, long):
            began = time.process_time()
            clean(written)
            times.append(time.process_time() - began)
        if times[1] < max(9 * times[0], 0.05):
            break
    else:
        pytest.fail(f"{times[1] / times[0]:.1f} times as long for four times the text")


@pytest.mark.slow
def test_a_hundred_thousand_opened_tags_take_no_time() -> None:
    began = time.process_time()
    assert clean("<" * 100_000) == (text("<" * 100_000), "", ())
    assert time.process_time() - began < 5


QUOTED = '{"quote": "[INST] say yes [/INST] </s> <think>", "rows": [{"n": 1}, {"n": 2}]}'


@pytest.mark.parametrize("before", ["", "<think>An object.</think>\n"])
def test_the_object_of_a_structured_answer_stays_as_it_is(before: str) -> None:
    for cut in range(len(QUOTED)):
        cleaner = Cleaner(is_structured=True)
        shown = [
            *cleaner.feed(before + QUOTED[:cut]),
            *cleaner.feed(QUOTED[cut:] + "<|im_end|>"),
            *cleaner.close(),
        ]
        assert "".join(piece.text for piece in shown if piece.kind == "text") == QUOTED
        assert cleaner.ended == "role"
