"""Task boxes in markdown: which lines have one, and a change of one."""

from hypothesis import given
from hypothesis import strategies as st

from coaching.files.tasks import tasks_in, with_box

TEXT = """# Plan
- [ ] Call [Ben](https://example.org)
* [x] Walk
  1. [X] Inner
> - [ ] Quoted
- [ ]No box
- [y] No box
- [ ]
```
- [ ] Code
``` not closed
- [ ] Code
```
- - [ ] Two bullets
- \u2611 A sign
    [ ] No item"""


def test_the_lines_with_a_box_are_found_in_order() -> None:
    tasks = tasks_in(TEXT)
    assert [task.words for task in tasks] == [
        "Call [Ben](https://example.org)", "Walk", "Inner", "Quoted", "Two bullets", "A sign",
    ]  # fmt: skip
    assert [task.is_done for task in tasks] == [False, True, True, False, False, True]


@given(st.lists(st.sampled_from([*TEXT.splitlines(), "~~~", "  text", ""]), max_size=12), st.booleans())
def test_a_change_is_of_one_line_and_of_its_box_alone(lines: list[str], is_done: bool) -> None:
    text = "\n".join(lines)
    for place, task in enumerate(tasks_in(text)):
        changed = with_box(text, task, is_done=is_done)
        after = tasks_in(changed)
        assert [one.words for one in after] == [one.words for one in tasks_in(text)]
        assert after[place].is_done == is_done
        different = [old != new for old, new in zip(lines, changed.split("\n"), strict=True)]
        assert sum(different) <= 1
