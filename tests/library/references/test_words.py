"""The shipped types, categories and folders have names for pages; other names stay as they were written."""

import pytest
import yaml
from django.conf import settings
from django.utils.translation import override

from coaching.library.references.current import References
from coaching.library.references.files import RULES_FILE, library_root
from coaching.library.references.words import (
    CATEGORIES,
    FOLDERS,
    TYPES,
    is_shown_as,
    shown_category,
    shown_folder,
    shown_folders,
    shown_title,
    shown_type,
    stored_folder,
    stored_folder_in_any_language,
)

OWN = "Grandma’s letters"


def test_each_shipped_type_category_and_folder_can_be_translated(shipped: References) -> None:
    placement = yaml.safe_load((library_root() / RULES_FILE).read_text(encoding="utf-8"))
    with override("en"):
        assert {key: str(name) for key, name in TYPES.items()} == {
            key: reference.title for key, reference in shipped.by_type.items()
        }
        assert {key: str(name) for key, name in CATEGORIES.items()} == placement["categories"]
        assert {key: str(name) for key, name in FOLDERS.items()} == {
            name: name for name in placement["folders"]
        }


@pytest.mark.parametrize("code", dict(settings.LANGUAGES))
def test_a_shipped_folder_is_stored_by_one_name_in_whichever_language_it_was_read(code: str) -> None:
    with override(code):
        shown = {name: shown_folder(name) for name in FOLDERS}
        assert {name: stored_folder(each) for name, each in shown.items()} == {name: name for name in FOLDERS}
    assert [stored_folder_in_any_language(each) for each in shown.values()] == list(FOLDERS)


@pytest.mark.parametrize("code", dict(settings.LANGUAGES))
def test_what_somebody_named_themselves_stays_as_they_wrote_it(code: str) -> None:
    with override(code):
        assert [shown(OWN) for shown in (shown_folder, shown_title, stored_folder)] == [OWN] * 3
        assert stored_folder_in_any_language(OWN) == OWN
        assert (shown_type("gym-contract"), shown_category("side_letters")) == (
            "Gym contract",
            "Side letters",
        )


def test_a_shipped_folder_is_shown_as_it_is_stored_beside_one_that_is_named_like_its_translation() -> None:
    with override("de"):
        assert shown_folders(["Work", "Home", OWN]) == {"Work": "Arbeit", "Home": "Wohnen", OWN: OWN}
        assert shown_folders(["Work", "Arbeit", ""]) == {"Work": "Work", "Arbeit": "Arbeit", "": ""}
    assert all(is_shown_as("Work", name) for name in ("Work", "Arbeit", "Trabajo"))
    assert not is_shown_as("Work", "Wohnen")
