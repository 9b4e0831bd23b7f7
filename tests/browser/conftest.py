"""Shared setup of the Chromium tests; without the dependency group each module reports what it needs."""

from pathlib import Path

import pytest
from pytest_asyncio import is_async_test

from tests.groups import ModuleWithoutGroup, is_installed

HAS_BROWSER = is_installed("browser")

if HAS_BROWSER:
    from tests.browser.fixtures import (
        browser,
        chromium,
        contexts,
        cookie,
        known_user,
        open_context,
        page,
        practice,
        watcher,
    )

    __all__ = [
        "browser",
        "chromium",
        "contexts",
        "cookie",
        "known_user",
        "open_context",
        "page",
        "practice",
        "watcher",
    ]


class _ModuleWithoutBrowser(ModuleWithoutGroup):
    group = "browser"


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Don't import test modules whose packages are missing."""
    return None if HAS_BROWSER else _ModuleWithoutBrowser.from_parent(parent, path=module_path)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Take no pictures of states unless somebody wants them: they test nothing that other tests don't."""
    return (collection_path.name == "test_pictures.py" and not config.getoption("pictures")) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests here in one event loop: the browser belongs to one, and starting it costs a second."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
