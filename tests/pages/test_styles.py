"""What no rule of the style sheets may have."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

STYLES = sorted(Path("static/css").rglob("*.css"))
NAMED = re.compile(r"[.#\[]|(?<![:\w-])[a-z]")
"""A class, an id, an attribute or an element in a compound selector."""
EXCEPT = re.compile(r":(?:has|not)\((?:[^()]|\([^()]*\))*\)")
"""What doesn't name it."""


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.stem)
def test_a_rule_with_has_names_what_it_styles(path: Path) -> None:
    """For a rule such as `.a:has(.b) > *`, Chromium restyles all that is below any other `:has()`."""
    assert [
        one for one in selectors_in(path.read_text()) if ":has(" in one and not names_its_subject(one)
    ] == []


def test_rules_without_a_name_are_found() -> None:
    css = ".a { &:has(.b) { @media (width > 1rem) { > * { color: red; } > p { color: red; } } } } /* {: */"
    assert [names_its_subject(one) for one in selectors_in(css)] == [True, True, False, True]
    assert names_its_subject(".a:not(:has(.b)) :is(.c, p)")
    assert not names_its_subject(".a:has(.b) > :not(.c):first-child")


def selectors_in(css: str) -> Iterator[str]:
    """Yield each selector of a style sheet with those that it is nested in."""
    nested: list[list[str]] = [[""]]
    words = ""
    for part in re.findall(r"[{};]|[^{};]+", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if part == "{" and words.strip().startswith("@"):
            nested.append(nested[-1])
        elif part == "{":
            nested.append([below(above, one.strip()) for above in nested[-1] for one in parts_of(words, ",")])
            yield from nested[-1]
        elif part == "}":
            nested.pop()
        words = part


def below(above: str, selector: str) -> str:
    return selector.replace("&", above) if "&" in selector else f"{above} {selector}".strip()


def names_its_subject(selector: str) -> bool:
    subject = parts_of(selector, " >+~")[-1]
    while (bare := EXCEPT.sub("", subject)) != subject:
        subject = bare
    return NAMED.search(subject) is not None


def parts_of(selector: str, separators: str) -> list[str]:
    """Return the parts of a selector between these characters, outside of brackets."""
    found, depth = [""], 0
    for character in selector:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in separators:
            found.append("")
        else:
            found[-1] += character
    return [part for part in found if part]
