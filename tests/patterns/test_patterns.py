"""Each of the product's regular expressions is listed, and none takes more than linear time for any text.

The figures are CPU time, which a busy machine doesn't change: four times the text must not take nine times as
long, twice in a row, and the longest text is bounded absolutely.
"""

import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.patience import patience
from tests.patterns.found import sites
from tests.patterns.made import ANCHORED, MADE, SAMPLES
from tests.patterns.scripts import script_patterns
from tests.patterns.worst import Text, feed, worst_texts
from tests.thoroughness import IS_LONG, sample

LISTED = Path(__file__).with_name("listed.txt")
NEVER = "never: "
FIRST, SECOND, THIRD = 1_000, 4_000, 16_000
LONG, LONGEST = 20_000, 200_000
MAX_RATIO = 9
"""Of the time for four times the text: 4 if it is linear, 16 if quadratic."""
MAX_FIVEFOLD = 12
"""The same for five times the text: 5 or 25."""
MAX_SECONDS = 1.0
NOTICEABLE_SECONDS = 0.002
MAX_SHORT_SECONDS = 0.1
"""For `SECOND` characters; an exponential pattern would never end with more."""
LIMIT_SECONDS = 10.0
"""Of CPU time for a module: an exponential pattern would never end."""


@cache
def listed() -> Mapping[str, str]:
    """Return where the texts of each listed pattern come from, or why it never sees any."""
    found: dict[str, str] = {}
    module = source = ""
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        if head := re.fullmatch(r"\[(\S+)\] (.+)", line):
            module, source = head.groups()
        elif line and not line.startswith("# "):
            found[f"{module}: {line}"] = source
    return found


@cache
def by_module() -> Mapping[str, Sequence[tuple[str, re.Pattern[Any], frozenset[str]]]]:
    """Return the patterns that see text of people, models, files or feeds, each with how it sees them."""
    patterns: dict[str, list[tuple[str, re.Pattern[Any], frozenset[str]]]] = defaultdict(list)
    for site in sites():
        if site.key in MADE:
            methods = frozenset({"match"} if site.key in ANCHORED else {"search", "sub"})
            patterns[site.module] += [(site.name, made, methods) for made in MADE[site.key]()]
        elif not listed().get(site.key, NEVER).startswith(NEVER):
            patterns[site.module].append(
                (site.name, site.compiled(SAMPLES.get(site.module, {})), site.methods)
            )
    for module, name, pattern in script_patterns():
        if not listed().get(f"{module}: {name}", NEVER).startswith(NEVER):
            patterns[module].append((name, pattern, frozenset({"sub"})))
    return patterns


def test_every_pattern_is_listed() -> None:
    there = {*(site.key for site in sites()), *(f"{module}: {name}" for module, name, _ in script_patterns())}
    missing, gone = sorted(there - listed().keys()), sorted(listed().keys() - there)
    assert not missing, f"Say in {LISTED.name} which texts these see: {missing}"
    assert not gone, f"Take these out of {LISTED.name}: {gone}"


def test_the_list_says_of_each_module_how_long_its_texts_are_or_why_it_sees_none() -> None:
    for source in set(listed().values()):
        assert re.fullmatch(r"never: \S.+|[0-9_]+ \S.+", source), source


@pytest.mark.parametrize(
    "module", sorted({site.module for site in sites()} | {m for m, _, _ in script_patterns()})
)
def test_no_pattern_takes_more_than_linear_time(module: str) -> None:
    for name, pattern, methods in by_module().get(module, ()):
        with _limited(f"{name} takes for ever"):
            for method in _ways(methods):
                _check(name, pattern, method)


def test_a_quadratic_pattern_is_noticed() -> None:
    for source in (r"\s+$", r"<a.*?>", r"(\w+)="):
        with pytest.raises(AssertionError):
            _check(source, re.compile(source, re.DOTALL), "search")


def _ways(methods: frozenset[str]) -> Sequence[str]:
    """Return the ways that cost most: who finds all matches searches for the first one, too."""
    anchored = sorted(methods & {"match", "fullmatch"})
    if methods - {"match", "fullmatch", "search"} or not methods:
        return [*anchored, "finditer"]
    return [*anchored, *sorted(methods & {"search"})]


def _check(name: str, pattern: re.Pattern[Any], method: str) -> None:
    source = pattern.pattern
    is_bytes = isinstance(source, bytes)
    flags = pattern.flags & ~re.UNICODE
    texts = sample(
        worst_texts(source.decode("latin-1") if isinstance(source, bytes) else source, flags), of_each=2
    )
    seconds = partial(_seconds, pattern, method, is_bytes=is_bytes)
    firsts = sorted(((seconds(text, FIRST), number) for number, text in enumerate(texts)), reverse=True)
    slowest = max((seconds(texts[number], SECOND), first, number) for first, number in firsts[:4])
    second, first, number = slowest
    text = texts[number]
    if second > NOTICEABLE_SECONDS and second > MAX_RATIO * first:
        second = min(second, seconds(text, SECOND))
        assert second < MAX_SHORT_SECONDS, (name, method, text(60), second)
        third = seconds(text, THIRD)
        assert third < MAX_RATIO * second, (name, method, text(60), second, third)
    long = seconds(text, LONG)
    if long > 5 * NOTICEABLE_SECONDS and long > MAX_FIVEFOLD * second:
        long = min(long, seconds(text, LONG))
        assert long < MAX_FIVEFOLD * seconds(text, SECOND), (name, method, text(60), long)
    if not IS_LONG:
        return
    longest = seconds(text, LONGEST)
    assert longest < MAX_SECONDS * patience_of_this_run(), (name, method, text(60), longest)


def _seconds(pattern: re.Pattern[Any], method: str, text: Text, length: int, *, is_bytes: bool) -> float:
    fed: Any = text(length).encode("latin-1", "replace") if is_bytes else text(length)
    began = time.thread_time()
    feed(pattern, method, fed)
    return time.thread_time() - began


@cache
def patience_of_this_run() -> float:
    """Return by what factor absolute limits are stretched."""
    return patience()


@contextmanager
def _limited(message: str) -> Iterator[None]:
    """Raise after so much CPU time: the engine looks for signals."""

    def stop(*_: object) -> None:
        raise AssertionError(message)

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
