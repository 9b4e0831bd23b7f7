"""The documentation names what exists: links lead somewhere, and paths and names are in the code."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from sage.version import read_version
from tests.sage.processes import PROJECT

DOCS = PROJECT / "docs"
DECISIONS = DOCS / "decisions"
PAGES = sorted([*PROJECT.glob("*.md"), *DOCS.rglob("*.md")])
OF_TODAY = sorted([DOCS / "architecture.md", DOCS / "words.md", *DECISIONS.glob("*.md")])
"""Pages whose names must be those of the code."""
CODE = ("coaching", "deploy", "sage", "sessions_app", "skills", "static", "templates", "tests", "docs", ".ci")
SUFFIXES = {".py", ".html", ".js", ".css", ".txt", ".toml", ".yaml"}
MAX_MAP_LINES = 150
MAX_README_LINES = 120
HEADINGS = ["Context", "Decision", "Consequences", "Alternatives"]

LINK = re.compile(r"\]\(([^()\s]++)\)")
QUOTED = re.compile(r"`([^`\n]++)`")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#++ (.++)$", re.MULTILINE)
WORD = re.compile(r"\w++")
NAMED_PAGE = re.compile(r"docs/[\w/-]+\.md")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?|[\w-]+/|[\w*-]+\.(?:py|md|js|html|css|txt|toml|yaml)")


def page_name(page: Path) -> str:
    return str(page.relative_to(PROJECT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub names them."""
    headings = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def quoted_in(page: Path) -> list[str]:
    return QUOTED.findall(FENCED.sub("", page.read_text()))


def code_paths() -> set[str]:
    """Return the paths of files and folders, also without their first folders."""
    found = set[str]()
    for path in [each for top in CODE for each in (PROJECT / top).rglob("*")] + list(PROJECT.iterdir()):
        if "__pycache__" not in path.parts:
            parts = path.relative_to(PROJECT).parts
            found |= {"/".join(parts[start:]) for start in range(len(parts))}
    return found


def missing_words(words: set[str]) -> set[str]:
    """Return those of the words that are nowhere in the code; its tests are searched last."""
    missing = set(words)
    for folder in CODE[:-2]:
        for file in (PROJECT / folder).rglob("*.*"):
            if missing and file.suffix in SUFFIXES:
                text = file.read_text()
                missing -= {word for word in missing if word in text and re.search(rf"\b{word}\b", text)}
    return missing


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_each_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_each_page_for_operators_is_one_click_from_the_first() -> None:
    linked = {link.partition("#")[0] for link in LINK.findall((DOCS / "operating.md").read_text())}
    assert {f"operating/{page.name}" for page in (DOCS / "operating").glob("*.md")} <= linked


def test_each_page_that_settings_and_messages_name_exists() -> None:
    """Of what operators read: settings, messages and what they copy from `deploy/`."""
    deployed = [each for each in (PROJECT / "deploy").rglob("*") if each.is_file()]
    files = [*(PROJECT / "sage").rglob("*.py"), *deployed, PROJECT / ".env.example"]
    texts = [each.read_text() for each in files]
    named = {page for text in texts for page in NAMED_PAGE.findall(text)}
    assert "docs/operating/voice.md" in named
    assert {page for page in named if not (PROJECT / page).is_file()} == set()


@pytest.mark.slow
def test_each_path_and_name_of_the_map_and_the_decisions_is_in_the_code() -> None:
    quoted = {part for page in OF_TODAY for text in quoted_in(page) for part in text.split()}
    paths, known = {part.rstrip("/") for part in quoted if PATH.fullmatch(part)}, code_paths()
    missing = {path for path in paths - known if not any(fnmatch(each, path) for each in known)}
    words = {word for part in quoted if not PATH.fullmatch(part) for word in WORD.findall(part)}
    missing |= missing_words(words)
    assert not missing


def test_each_decision_has_its_four_headings_and_a_line_in_the_index() -> None:
    decisions = {page.name: page for page in DECISIONS.glob("*.md") if page.name != "README.md"}
    for page in decisions.values():
        assert HEADING.findall(page.read_text())[1:] == HEADINGS, page.name
    listed = re.findall(r"^- \[(.+)\]\((\S+)\)$", (DECISIONS / "README.md").read_text(), re.MULTILINE)
    titles = {name: HEADING.findall(page.read_text())[0] for name, page in decisions.items()}
    assert {name: title for title, name in listed} == titles


def test_the_changelog_is_by_release_and_the_newest_is_the_version() -> None:
    """Before the first release it has *Unreleased* alone (CONTRIBUTING.md, Releasing)."""
    headings = re.findall(r"^## (.+)$", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) – (\d{4}-\d\d-\d\d)", each) for each in headings[1:]]
    assert all(released)
    versions = [(tuple(map(int, each.groups()[:3])), each[4]) for each in released if each]
    assert versions == sorted(versions, reverse=True)
    assert not versions or headings[1].startswith(f"{read_version(PROJECT)} – ")


def test_the_readme_fits_on_two_pages_and_says_how_to_begin_and_extend() -> None:
    text = (PROJECT / "README.md").read_text()
    assert len(text.splitlines()) < MAX_README_LINES
    recipes = [f"recipes/{name}.md" for name in ("tool", "skill", "file-type", "document-kind")]
    for part in ("uv run manage.py up", "uv run pytest", "docs/images/", *recipes):
        assert part in text


def test_the_map_stays_a_map() -> None:
    assert len((DOCS / "architecture.md").read_text().splitlines()) <= MAX_MAP_LINES
