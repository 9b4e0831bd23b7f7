"""`python -m tests.library`: how often the right reference is among the six that are selected.

And how often the practice model files a text, rightly or wrongly.

Confusions of the held-out texts aren't shown, so that references aren't fitted to them.
"""

import os
from collections.abc import Sequence

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

# The models can be imported now, not before.
from coaching.library.references.current import References  # noqa: E402 - needs Django set up
from coaching.library.references.files import read_reference_files  # noqa: E402 - needs Django set up
from tests.library.labelled_texts import Outcome, read_labelled_texts, select_for_all  # noqa: E402 - needs Django set up
from tests.library.practised import Judged, judge_all  # noqa: E402 - needs Django set up


def main() -> None:
    """Print the figures and the confusions."""
    files = read_reference_files()
    references = References({text.file_type: text for text in files.references}, files.rules)
    items = read_labelled_texts()
    for has_names in (True, False):
        outcomes = select_for_all(references, items, has_names=has_names)
        for is_held_out in (False, True):
            part = [found for found in outcomes if found.item.is_held_out == is_held_out]
            words = f"{'held out' if is_held_out else 'tuned on'}, {'with' if has_names else 'without'} names"
            print(f"{words}: {figures(part)}")  # noqa: T201 - its output
            for found in () if is_held_out else part:
                if found.place != 1:
                    print(f"  {describe(found)}")  # noqa: T201
            chosen = [item for item in items if item.is_held_out == is_held_out]
            print(f"  {filed(judge_all(references, chosen, has_names=has_names))}")  # noqa: T201


def figures(outcomes: Sequence[Outcome]) -> str:
    """Return how many are right, in words."""
    right = sum(found.place > 0 for found in outcomes)
    first = sum(found.place == 1 for found in outcomes)
    return f"{right} of {len(outcomes)} among six ({right / len(outcomes):.1%}), {first} first"


def filed(judged: Sequence[Judged]) -> str:
    """Return what the practice model files, in words."""
    right = [each.is_right for each in judged if each.is_filed]
    asked = len(judged) - len(right)
    files = f"{right.count(True)} rightly, {right.count(False)} wrongly"
    return f"the practice model files {files}, and asks about {asked}"


def describe(found: Outcome) -> str:
    """Return a confusion in words."""
    ahead = ", ".join(found.selected[: found.place - 1 if found.place else None])
    place = f"place {found.place}" if found.place else "missing"
    return (
        f"{found.item.file_type} {found.item.number} ({found.item.name or 'no name'}): {place}, after {ahead}"
    )


if __name__ == "__main__":
    main()
