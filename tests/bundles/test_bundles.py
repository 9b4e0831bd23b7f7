"""What pages load is made of the present modules and styles, and loads nothing by a name without a hash."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.template import Context, Template
from pytest_django import Settings

from coaching.templatetags.bundles import BUNDLES
from tests.bundles.build import STATIC, build, files_in, install
from tests.groups import require
from tests.sage.processes import PROJECT

ANEW = "uv run python -m tests.bundles"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files as they are made now."""
    require("bundles", shutil.which("npm") is not None, "npm, which comes with Node.js")
    try:
        install()
    except subprocess.CalledProcessError as error:
        require("bundles", False, f"packages that npm couldn't install: {error.stderr}")
    folder = tmp_path_factory.mktemp("bundles")
    build(folder)
    return files_in(folder)


def modules_of(bundle: str) -> set[Path]:
    """The modules that a bundle consists of."""
    waiting = [STATIC / "js" / f"{module}.js" for module in BUNDLES[bundle]]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            imported = re.findall(r'^import .*?"(\.[^"]+)";$', path.read_text(), re.MULTILINE | re.DOTALL)
            waiting += [(path.parent / name).resolve() for name in imported]
    return found


@pytest.mark.slow
def test_the_committed_bundles_are_those_of_the_modules(fresh: dict[str, bytes]) -> None:
    committed = files_in(STATIC)
    assert sorted(committed) == sorted(fresh), ANEW
    assert [name for name, content in fresh.items() if committed[name] != content] == [], ANEW


def test_each_bundle_is_there_and_is_whole() -> None:
    for name in BUNDLES:
        script = (STATIC / "dist" / f"{name}.js").read_text()
        assert not re.search(r"""\b(?:import|from)\s*\(?\s*["'`]""", script), f"{name} loads another script"
        assert "sourceMappingURL" not in script
        assert str(Path.home()) not in script
    style = (STATIC / "dist" / "sage.css").read_text()
    assert "@import" not in style
    assert {name.split("/")[1] for name in re.findall(r"url\(([^)]+)\)", style)} == {"fonts"}


def test_every_module_is_in_a_bundle_or_loaded_alone() -> None:
    alone = {STATIC / "js" / "theme.js", STATIC / "js" / "service-worker.js"}
    assert set((STATIC / "js").rglob("*.js")) == alone.union(*map(modules_of, BUNDLES))


def test_what_a_page_loads_later_shares_no_module_with_its_bundle() -> None:
    for later in ("palette", "voice/voice"):
        assert [name for name in BUNDLES if modules_of(name) & modules_of(later)] == [later]


def test_templates_load_scripts_by_their_bundles() -> None:
    for path in (PROJECT / "templates").rglob("*.html"):
        if path.name != "page_scripts.html":
            assert not re.search(r"js/(?!theme\.js)[\w/-]+\.js'", path.read_text()), path
            assert "css/sage.css" not in path.read_text(), path


def test_with_debug_a_page_loads_the_modules_and_styles_themselves(settings: Settings) -> None:
    loads = '{% page_scripts "chat/main" %} {% script_url "palette" %} {% stylesheet %}'
    page = Template("{% load bundles %}" + loads)
    main = '<script type="module" src="/static/dist/chat/main.js"></script>'
    assert page.render(Context()) == f"{main} /static/dist/palette.js /static/dist/sage.css"
    settings.SAGE_BUNDLES = False
    app, main = (
        f'<script type="module" src="/static/js/{name}.js"></script>' for name in ("app", "chat/main")
    )
    assert page.render(Context()) == f"{app}{main} /static/js/palette.js /static/css/sage.css"
