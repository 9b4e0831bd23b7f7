"""Highlighted code is readable in both schemes: contrasts are computed from the style sheet."""

import math
import re
from pathlib import Path

import pytest

from coaching.sandbox.markdown_worker import CODE_CLASSES

TOKENS = Path("static/css/tokens.css").read_text()
STYLES = Path("static/css/components/code.css").read_text()
SCHEMES = {"light": 0, "dark": 1}
AA_TEXT = 4.5
CHANNELS = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def luminance(name: str, scheme: str) -> float:
    """Return the relative luminance of a colour of the style sheet."""
    found = re.search(rf"{re.escape(name)}: light-dark\(oklch\(([^)]*)\), oklch\(([^)]*)\)\)", TOKENS)
    assert found, name
    lightness, chroma, hue = map(float, found[SCHEMES[scheme] + 1].split())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    cones = (
        (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    )
    red, green, blue = (
        min(1.0, max(0.0, sum(share * cone for share, cone in zip(row, cones, strict=True))))
        for row in CHANNELS
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_colour_of_code_has_enough_contrast(scheme: str) -> None:
    names = re.findall(r"color: var\((--(?:code-\w+|clay))\)", STYLES)
    assert len(names) == len(set(CODE_CLASSES.values())) - 1, "added lines share the colour of strings"
    background = luminance("--well", scheme)
    for name in [*names, "--ink", "--ink-soft"]:
        light, dark = sorted([luminance(name, scheme), background], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= AA_TEXT, (name, (light + 0.05) / (dark + 0.05))


def test_every_class_of_code_has_a_colour() -> None:
    assert {name for name in CODE_CLASSES.values() if f".{name}" not in STYLES} == set()
