"""No module and no function is longer than `CONTRIBUTING.md` says, unless the module gives the reason."""

import pytest

from tests.architecture.parsing import parse
from tests.architecture.sizes import faults_in
from tests.architecture.test_tool_names import PACKAGES
from tests.sage.processes import PROJECT

LONG_DOCSTRING = '    """Do it.\n' + "\n    More.\n" * 30 + '    """\n'


def faults(source: str) -> list[str]:
    return list(faults_in(source, parse(source)))


def module(docstring: str, *, lines: int) -> str:
    text = f'"""{docstring}"""\n'
    return text + "x = 1\n" * (lines - text.count("\n"))


def function(*, lines: int, head: str = "", docstring: str = "") -> str:
    return f"{head}def act():\n{docstring}" + "    x = 1\n" * (lines - 1)


def test_modules_and_functions_keep_to_their_lines() -> None:
    alone = [PROJECT / "manage.py", PROJECT / "deploy/healthcheck.py"]
    paths = [*alone, *(path for name in PACKAGES for path in (PROJECT / name).rglob("*.py"))]
    product = [path for path in paths if "migrations" not in path.parts]
    assert len(product) > 1_000
    found = {}
    for path in product:
        source = path.read_text()
        if each := list(faults_in(source, parse(source))):
            found[str(path.relative_to(PROJECT))] = each
    assert found == {}


@pytest.mark.parametrize(
    "docstring",
    [
        "A list.",
        "A list. Over 300 lines.",
        "A list. Over 300 lines, because.",
        "A list that is over 300 lines, because it is one.",
        "A list, so it is Over 300 lines, because it is one.",
        "A list. Over 300 lines, because it is",
    ],
)
def test_a_module_of_more_lines_needs_a_sentence_with_the_reason(docstring: str) -> None:
    assert faults(module(docstring, lines=300)) == []
    assert faults(module(docstring, lines=301)) == ["301 lines, and no sentence “Over 300 lines, because …”"]


@pytest.mark.parametrize(
    "docstring",
    [
        "A list. Over 300 lines, because it is one.",
        "A list of `things`.\n\nOver 300 lines, because it\nis one. More.\n",
        "Over 300 lines, because it is a list.",
    ],
)
def test_a_module_that_gives_the_reason_may_be_longer_and_a_shorter_one_gives_none(docstring: str) -> None:
    assert faults(module(docstring, lines=301)) == []
    assert faults(module(docstring, lines=300)) == ["300 lines need no “Over 300 lines, because …”"]


@pytest.mark.parametrize("head", ["", "async ", "@one\n@two(\n    three\n)\n"])
@pytest.mark.parametrize("docstring", ["", '    """Do it."""\n', LONG_DOCSTRING])
def test_a_function_has_at_most_40_lines_without_docstring_and_decorators(head: str, docstring: str) -> None:
    assert faults(function(lines=40, head=head, docstring=docstring)) == []
    assert faults(function(lines=41, head=head, docstring=docstring)) == ["act has 41 lines"]


def test_methods_and_inner_functions_are_counted_too() -> None:
    inner = "\n".join(f"    {line}" for line in function(lines=41).splitlines())
    assert faults(f"class Each:\n{inner}\n") == ["act has 41 lines"]
    assert faults(f"def outer():\n{inner}\n") == ["outer has 42 lines", "act has 41 lines"]


@pytest.mark.parametrize(
    "around",
    [
        "if a:\n    pass\nelse:\n{}",
        "try:\n{}\nfinally:\n    pass",
        "try:\n    pass\nexcept A:\n{}",
        "try:\n    pass\nfinally:\n{}",
        "match a:\n    case 1:\n{}",
        "with a:\n{}",
        "for a in b:\n{}",
    ],
)
def test_a_function_is_found_in_any_statement(around: str) -> None:
    depth = "        " if "case" in around else "    "
    inner = "\n".join(depth + line for line in function(lines=41).splitlines())
    assert faults(around.format(inner)) == ["act has 41 lines"]
