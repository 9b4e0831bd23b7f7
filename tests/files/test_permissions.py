"""The whole permission matrix of SPEC 4."""

import pytest

from coaching.files.errors import FileRefused
from coaching.files.permissions import WRITABLE, check_may_write, may_write
from coaching.models import FileType
from sessions_app.models import SessionKind

#                      open_conversation, life_mapping, weekly_checkin, open_day, close_day
KINDS = ("open_conversation", "life_mapping", "weekly_checkin", "open_day", "close_day")
MATRIX = {
    "domain": "yyy-y",
    "overview": "yyy--",
    "life-plan": "yyy--",
    "check-in": "--y--",
    "daily-log": "----y",
    "day-plan": "y--y-",
    "weekly-plan": "y-y--",
    "sage-context": "yyyyy",
    "sage-patterns": "yyy-y",
    "capture": "y--y-",
    "reflection-prompt": "y-y-y",
    "note": "-----",
    "safety-plan": "y----",
    "letter": "-----",
}
CELLS = [
    (kind, file_type, cell == "y")
    for file_type, row in MATRIX.items()
    for kind, cell in zip(KINDS, row, strict=True)
]


def test_the_matrix_names_every_kind_and_every_type() -> None:
    assert set(KINDS) == set(SessionKind.values) == set(WRITABLE)
    assert set(MATRIX) == set(FileType.values)


@pytest.mark.parametrize(("kind", "file_type", "is_allowed"), CELLS)
def test_a_cell_allows_or_refuses_and_says_what_is_allowed(
    kind: str, file_type: str, is_allowed: bool
) -> None:
    assert may_write(kind, FileType(file_type)) is is_allowed
    if is_allowed:
        check_may_write(kind, FileType(file_type))
        return
    with pytest.raises(FileRefused) as refused:
        check_may_write(kind, FileType(file_type))
    named = str(refused.value).partition("may be written now: ")[2].rstrip(".").split(", ")
    assert named == [str(allowed) for allowed in WRITABLE[SessionKind(kind)]]


@pytest.mark.parametrize("kind", ["", "OPEN_DAY", "admin", "open_day "])
def test_an_unknown_kind_may_write_nothing(kind: str) -> None:
    assert not any(may_write(kind, file_type) for file_type in FileType)
    with pytest.raises(FileRefused, match="nothing"):
        check_may_write(kind, FileType.CAPTURE)
