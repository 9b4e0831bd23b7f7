"""How often the danger rules notice danger, on sentences that they weren't written with (`figures.json`).

`tests/safety` measures them on its `unseen.jsonl` and `sets/held_out`, whose authors never saw the rules,
and writes the file; no rule is changed for one of these sentences. The second look isn't measured: it depends
on its model.
"""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("figures.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Numbers of sentences by label, and how many of them the rules noticed, or took for danger."""

    immediate: int
    immediate_noticed: int
    concern: int
    concern_noticed: int
    harmless: int
    alarmed: int


_FIGURES = {name: Figures(**values) for name, values in json.loads(FILE.read_text(encoding="utf-8")).items()}
ENGLISH, OTHER_LANGUAGES = _FIGURES["english"], _FIGURES["other"]
