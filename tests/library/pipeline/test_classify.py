"""`manage.py classify`: its lines, its exit codes, and running it again."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from coaching.library.documents.intake import destination_of, take_in
from coaching.models import Client, Document, DocumentSource, DocumentState, Project
from tests.library.pipeline.conftest import LEASE, PAYSLIP

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

KEYS = ["path", "state", "fileType", "category", "folder", "level", "confidence", "why", "reason"]


def classify(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Run the command; return its exit code and its lines."""
    out = StringIO()
    try:
        call_command("classify", *arguments, "--json", stdout=out)
        code = 0
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a payslip, the same one again, a lease below it, and what isn't read."""
    (tmp_path / "march.txt").write_text(PAYSLIP)
    (tmp_path / "march copy.txt").write_text(PAYSLIP)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "contract.txt").write_text(LEASE)
    (tmp_path / ".hidden").write_text("hidden")
    return tmp_path


def test_a_folder_is_filed_and_a_line_printed_for_each_file(user: User, folder: Path) -> None:
    code, rows = classify(str(folder), "--user", user.username)
    assert code == 0
    assert [list(row) for row in rows] == [KEYS] * 3
    states = {Path(row["path"]).name: (row["state"], row["fileType"]) for row in rows}
    assert states == {
        "contract.txt": ("filed", "lease"),
        "march copy.txt": ("filed", "payslip"),
        "march.txt": ("duplicate", ""),
    }
    assert all(row["why"] and row["confidence"] for row in rows if row["state"] == "filed")
    assert {document.source for document in Document.of(user.pk)} == {DocumentSource.COMMAND}


def test_what_an_earlier_run_left_unfinished_is_taken_up_and_not_filed_twice(
    user: User, folder: Path
) -> None:
    destination = destination_of(user_id=user.pk, source=DocumentSource.COMMAND)
    left = take_in(user_id=user.pk, name="march.txt", data=PAYSLIP.encode(), destination=destination)
    Document.of(user.pk).filter(id=left.pk).update(state=DocumentState.READING, claim="command:1:dead")
    code, rows = classify(str(folder / "march.txt"), "--user", user.username)
    assert (code, [row["state"] for row in rows]) == (0, ["filed"])
    assert [document.pk for document in Document.of(user.pk)] == [left.pk]
    code, rows = classify(str(folder / "march.txt"), "--user", user.username)
    assert (code, [row["state"] for row in rows]) == (0, ["duplicate"])


def test_a_file_that_cannot_be_read_fails_with_a_sentence_and_exit_code_1(user: User, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "march.txt").write_text(PAYSLIP)
    code, rows = classify(str(tmp_path), "--user", user.username)
    assert code == 1
    assert [(row["state"], bool(row["reason"])) for row in rows] == [("refused", True), ("filed", False)]


@pytest.mark.slow
def test_the_limit_of_a_file_is_that_of_an_upload(user: User, tmp_path: Path, settings: Any) -> None:
    settings.SAGE_MAX_UPLOAD_MB = 1
    (tmp_path / "large.txt").write_bytes(b"\n" * (2**20 + 1) + b"x")
    (tmp_path / "largest.txt").write_text(PAYSLIP.ljust(2**20, "\n"))
    code, rows = classify(str(tmp_path), "--user", user.username)
    assert (code, [row["state"] for row in rows]) == (1, ["refused", "filed"])
    assert "max. 1 MB" in rows[0]["reason"]


def test_an_interruption_while_files_are_stored_says_how_to_go_on(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_path: Path) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "read_bytes", interrupted)
    with pytest.raises(CommandError, match="goes on where it stopped") as refused:
        classify(str(folder), "--user", user.username)
    assert refused.value.returncode == 1


@pytest.mark.slow
def test_over_the_budget_files_are_left_for_a_later_run(user: User, folder: Path, settings: Any) -> None:
    settings.SAGE_DAILY_TOKENS = 1
    assert classify(str(folder / "march.txt"), "--user", user.username)[0] == 0
    code, rows = classify(str(folder / "below"), "--user", user.username)
    assert code == 1
    assert "budget" in rows[0]["reason"]
    assert Document.of(user.pk).filter(state=DocumentState.WAITING).count() == 1


def test_client_and_project_go_by_id_or_exact_name(user: User, other_user: User, folder: Path) -> None:
    client = Client.of(user.pk).create(name="Harbour Ltd", client_type="company")
    project = Project.of(user.pk).create(client=client, name="Quay Street")
    file = str(folder / "below" / "contract.txt")
    code, rows = classify(
        file, "--user", user.username, "--client", "Harbour Ltd", "--project", "Quay Street"
    )
    assert (code, rows[0]["state"], rows[0]["level"]) == (0, "filed", "project")
    assert Document.of(user.pk).get().project_id == project.pk
    foreign = Client.of(other_user.pk).create(name="Foreign", client_type="company")
    for arguments in (
        ["--client", "Harbour"],
        ["--client", str(foreign.pk)],
        ["--client", str(client.pk), "--project", "No such"],
    ):
        with pytest.raises(CommandError) as refused:
            classify(file, "--user", user.username, *arguments)
        assert refused.value.returncode == 2


@pytest.mark.parametrize("arguments", [["missing.txt", "--user", "ada"], [".", "--user", "nobody"]])
def test_bad_arguments_end_with_exit_code_2(user: User, arguments: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        classify(*arguments)
    assert refused.value.returncode == 2
