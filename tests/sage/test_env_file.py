"""`.env`: what can't be read or is misspelt is said, never ignored silently."""

import os
from pathlib import Path

import pytest

from sage.env import SettingError
from sage.env_file import read_env_file, unknown_names

TOLD = "is no variable of Sage and is ignored."


def written(folder: Path, text: str) -> Path:
    path = folder / ".env"
    path.write_text(text)
    return path


def test_a_file_sets_what_the_environment_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGE_SIGNUP", "open")
    monkeypatch.setenv("SAGE_MODEL", "")
    monkeypatch.delenv("SAGE_MODEL")
    path = written(tmp_path, "# models\n\nexport SAGE_MODEL='own'\nSAGE_SIGNUP=closed\n")
    assert read_env_file(path) == ["SAGE_MODEL", "SAGE_SIGNUP"]
    assert (os.environ["SAGE_MODEL"], os.environ["SAGE_SIGNUP"]) == ("own", "open")
    assert read_env_file(tmp_path / "none") == []


def test_blank_lines_indented_comments_and_a_byte_order_mark_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGE_MODEL", "")
    monkeypatch.delenv("SAGE_MODEL")
    path = written(tmp_path, "\ufeffSAGE_MODEL=own\n  \n\t# a comment\n")
    assert read_env_file(path) == ["SAGE_MODEL"]
    assert os.environ["SAGE_MODEL"] == "own"


@pytest.mark.parametrize("line", ["SAGE_SIGNUP = closed", "hunter2", " SAGE_SIGNUP=closed", "SAGE_SIGNUP"])
def test_a_line_that_sets_nothing_is_named_by_its_number_and_not_repeated(line: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"# a comment\nDEBUG=false\n{line}\n")
    with pytest.raises(SettingError) as refused:
        read_env_file(path)
    assert str(refused.value).startswith(f"{path}, line 3: ")
    assert line not in str(refused.value)


def test_a_file_that_this_user_can_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.symlink_to("/proc/self/mem")  # even root can't read it
    with pytest.raises(SettingError, match=r"\.env can't be read \("):
        read_env_file(path)
    path.unlink()
    path.write_bytes(b"SAGE_MODEL=\xff\n")
    with pytest.raises(SettingError, match="isn't text in UTF-8"):
        read_env_file(path)


@pytest.mark.parametrize(
    ("given", "in_file", "told"),
    [
        (["SAGE_SINGUP"], [], [f"SAGE_SINGUP in the environment {TOLD} Did you mean SAGE_SIGNUP?"]),
        ([], ["ALOWED_HOSTS"], [f"ALOWED_HOSTS in .env {TOLD} Did you mean ALLOWED_HOSTS?"]),
        ([], ["allowed_hosts"], [f"allowed_hosts in .env {TOLD} Did you mean ALLOWED_HOSTS?"]),
        ([], ["SAGE_QUUX_ZZZ"], [f"SAGE_QUUX_ZZZ in .env {TOLD}"]),
        (["ALOWED_HOSTS", "PATH", "SAGE_TEST_FILES", "SAGE_WEB_PROCESSES"], ["POSTGRES_USER"], []),
        (["SAGE_SIGNUP", "AWS_DEFAULT_REGION"], ["ALLOWED_HOSTS"], []),
    ],
)
def test_a_misspelt_name_is_told_with_what_was_meant(
    given: list[str], in_file: list[str], told: list[str]
) -> None:
    assert unknown_names(dict.fromkeys(given, "yes"), in_file) == told


@pytest.mark.parametrize("service", ["SAGE", "SAGE_WEB", "SAGE_MODEL_2"])
def test_what_kubernetes_sets_for_a_service_is_not_told(service: str) -> None:
    port = f"{service}_PORT_8000_TCP"
    names = [f"{service}_SERVICE_HOST", f"{service}_SERVICE_PORT", f"{service}_SERVICE_PORT_HTTP"]
    names += [port, f"{port}_PROTO", f"{port}_PORT", f"{port}_ADDR"]
    given = dict.fromkeys(names, "10.0.0.1") | {f"{service}_PORT": "tcp://10.0.0.1:8000"}
    assert unknown_names(given, []) == []
    assert unknown_names(dict.fromkeys(given, "8000"), [])[0].startswith(f"{service}_PORT in the environment")


@pytest.mark.parametrize("name", ["SAGE_PORT", "SAGE_PORTS", "SAGE_SERVICE", "SAGE_SERVICE_HOSTS"])
def test_a_port_that_somebody_chose_is_told(name: str) -> None:
    assert unknown_names({name: "8000"}, []) == [f"{name} in the environment {TOLD}"]
    assert unknown_names({}, [name]) == [f"{name} in .env {TOLD}"]
