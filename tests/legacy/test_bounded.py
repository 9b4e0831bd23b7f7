"""Items are found as a parser finds them, wherever a block ends, and limited before any parser sees them."""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coaching.legacy.importers import bounded
from coaching.legacy.importers.bounded import NotJson, TooMuch, Unreadable, read_pieces
from coaching.legacy.importers.json_stream import read_items
from tests.thoroughness import examples

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.just('\\"[{😀\\'),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)

# Values of values take a busy machine long to make.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(50))


def in_blocks(data: bytes, size: int) -> Callable[[int], bytes]:
    """Return a reader that gives at most so many bytes at once."""
    file = BytesIO(data)
    return lambda wanted: file.read(min(size, wanted))


def values_of(data: bytes, size: int = 1 << 16) -> list[Any]:
    return [item.value for item in read_items(in_blocks(data, size))]


def endless(head: bytes, unit: bytes, size: int, tail: bytes) -> Callable[[int], bytes]:
    """Return a reader of a repeated text, which is never in memory."""

    def blocks() -> Iterator[bytes]:
        yield head
        block = unit * (10_000 // len(unit))
        for _ in range(size // len(block)):
            yield block
        yield tail

    rest = blocks()
    return lambda _: next(rest, b"")


@unhurried
@given(st.lists(VALUES), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
def test_a_list_gives_its_elements(values: list[Any], size: int, indent: int | None, is_ascii: bool) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=is_ascii).encode()
    assert values_of(data, size) == values


@pytest.mark.slow
@unhurried
@given(st.dictionaries(st.text(), VALUES), st.integers(1, 9))
def test_an_object_gives_its_values_and_the_elements_of_its_lists(told: dict[str, Any], size: int) -> None:
    data = json.dumps(told, indent=2).encode()
    found = [(item.path, item.value) for item in read_items(in_blocks(data, size))]
    expected: list[Any] = []
    for key, value in told.items():
        if isinstance(value, list):
            expected += [((key, number), element) for number, element in enumerate(value)]
        else:
            expected.append(((key,), value))
    assert found == expected


@pytest.mark.slow
@unhurried
@given(VALUES, st.integers(0, 200), st.integers(1, 9))
def test_what_is_cut_anywhere_is_no_json(value: Any, place: int, size: int) -> None:
    data = json.dumps([value, "end"]).encode()
    with pytest.raises(NotJson):
        values_of(data[: place % len(data)], size)


@pytest.mark.parametrize(
    "data",
    [b"[1,]", b"[,1]", b"[1 2]", b"[1]]", b"[1] x", b"{1: 2}", b'{"a" 1}', b'{"a": 1,}', b"[}", b"[1}",
     b'{"a": [1}', b"[Nan]", b"[+Infinity]", b"[01]", b"[tru]", b'["\\x"]', b'["\n"]', b"[\\]", b"",
     b"1", b'"x"'],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 1000])
def test_anything_else_is_no_json(data: bytes, size: int) -> None:
    with pytest.raises(NotJson):
        values_of(data, size)


@unhurried
@given(
    st.lists(st.dictionaries(st.text(), VALUES), min_size=1),
    st.sampled_from(["", "\n", "\r\n\n "]),
    st.integers(1, 9),
)
def test_objects_after_one_another_are_items(values: list[Any], between: str, size: int) -> None:
    data = between.join(map(json.dumps, values)).encode() + b"\n"
    found = list(read_items(in_blocks(data, size), is_sequence=True))
    assert [(item.path, item.value) for item in found] == [((n,), value) for n, value in enumerate(values)]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"[1]", b'{"a": 1}\n[1]', b'{"a": 1},{"b": 1}', b'{"a": 1}\n{"b', b"1"]
)
def test_anything_else_after_an_object_is_no_json(data: bytes) -> None:
    with pytest.raises(NotJson):
        list(read_items(in_blocks(data, 1), is_sequence=True))


def test_the_limits_hold_for_objects_after_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_TOKEN_BYTES", 50_000)
    monkeypatch.setattr(bounded, "MAX_ITEMS", 3)
    long = b'{"a": "' + b"x" * 60_000 + b'"}\n'
    large, last = read_pieces(in_blocks(long + b'{"b": 1}', 1_000), is_sequence=True)
    assert (large.data, last.data, last.line) == (bounded.TOO_LARGE, b'{"b": 1}', 2)
    with pytest.raises(TooMuch):
        list(read_pieces(in_blocks(b'{"b": 1}\n' * 4, 1_000), is_sequence=True))


def test_what_is_no_number_is_null() -> None:
    assert values_of(b'[NaN, {"a": [-Infinity, Infinity]}, "NaN"]') == [None, {"a": [None, None]}, "NaN"]


def test_a_long_string_is_passed_over_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_TOKEN_BYTES", 50_000)
    for unit in (b"x", b" ", b"\\\\", b'\\"', b"\\ud83d\\ude00", b"{[", "é".encode()):
        for head, tail in ((b'["', b'", 1]'), (b'[{"a": ["', b'"]}, 1]'), (b'[{"', b'": 0}, 1]')):
            large, last = read_pieces(endless(head, unit, 200_000, tail))
            assert (large.data, last.data) == (bounded.TOO_LARGE, b"1"), unit
            (short, _) = read_pieces(endless(head, unit, 20_000, tail))
            assert isinstance(short.data, bytes), unit


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        (b'[[""', b',""', b"],1]"),
        (b"[[[]", b",[]", b"],1]"),
        (b"[[1", b",1", b"],1]"),
        (b'[{"a":1', b',"b":1', b"},1]"),
        (b"[[", b" \n", b"],1]"),
        (b"[[", b"7", b"],1]"),
        (b"[", b"7", b",1]"),
    ],
)
def test_an_item_of_too_many_values_or_bytes_is_passed_over(
    head: bytes, unit: bytes, tail: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MAX_ITEM_BYTES", 100_000)
    monkeypatch.setattr(bounded, "MAX_TOKEN_BYTES", 100_000)
    large, last = read_pieces(endless(head, unit, 300_000, tail))
    assert (large.data, last.data) == (bounded.TOO_LARGE, b"1")


@pytest.mark.parametrize("unit", [b"[", b'{"a":', b'[{"a":[', b'[0,"]",'])
def test_nesting_is_passed_over_and_never_kept(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_PASSED_OVER_BYTES", 300_000)
    closing = b"".join({b"[": b"]", b"{": b"}"}.get(bytes([byte]), b"") for byte in reversed(unit))
    data = b"[" + unit * 1_000 + b"0" + closing.replace(b"]]", b"]") * 1_000 + b", 1]"
    if unit in (b"[", b'{"a":'):
        deep, last = read_pieces(in_blocks(data, 97))
        assert (deep.data, last.data) == (bounded.TOO_DEEP, b"1")
    with pytest.raises(TooMuch):
        list(read_pieces(endless(b"[", unit, 1_000_000, b"")))


def test_a_file_of_endless_items_or_with_an_endless_item_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_ITEMS", 1_000)
    monkeypatch.setattr(bounded, "MAX_PASSED_OVER_BYTES", 100_000)
    for head, unit in ((b"[0", b",0"), (b"[{}", b",{}"), (b'{"a":0', b',"a":0'), (b'{"a":[0', b",0")):
        with pytest.raises(TooMuch):
            list(read_pieces(endless(head, unit, 100_000, b"")))
    for head in (b'["', b'[{"a":"', b'{"'):
        with pytest.raises(TooMuch):
            list(read_pieces(endless(head, b"0", 1_000_000, b"")))


def test_blank_space_between_items_costs_no_memory_and_counts_lines() -> None:
    (piece,) = read_pieces(endless(b"[", b" \n", 100_000, b"1]"))
    assert (piece.data, piece.line) == (b"1", 50_001)


def test_half_a_surrogate_and_numbers_of_any_length_are_read_or_refused() -> None:
    assert values_of(b'["\\ud83d", "\\ude00x"]', 3) == ["\ud83d", "\ude00x"]
    assert values_of(b"[1e999, 0." + b"1" * 5_000 + b"]", 7)[1] == pytest.approx(0.1111111)
    with pytest.raises(NotJson):
        values_of(b"[" + b"9" * 5_000 + b"]")
    assert not isinstance(values_of(b"[" + b"9" * 4_000 + b"]")[0], Unreadable)
