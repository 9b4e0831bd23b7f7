"""The catalogues hold every text of the pages and are compiled; translations have the same placeholders.

That every text is translated is a matter of a release: who writes one in English needn't speak the others.
"""

import gettext
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from tests.groups import require

ROOT = Path(__file__).parents[2]
SOURCES = ("coaching", "sage", "sessions_app", "templates", "locale")
CODES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
SAME = {
    "de": """
        (Markdown) (optional) Browser: Chile China Code Details In Israel Japan Malaysia Mandarin Name Offline
        Okay Passkey Passkeys Person Peru Plan Portugal Server Status Taiwan Text Tokens Ukraine Uploads
        Variable Version WhatsApp Zoom online
    """,
    "es": """
        (Markdown) Argentina Australia Austria Chile China Colombia Hong India Israel Kong Plan Portugal
        Tokens Variable WhatsApp Zoom no plan tokens
    """,
}
"""Words that are the same in a language."""
_LETTER = re.compile(r"[^\W\d_]")
PLACEHOLDER = re.compile(r"<[^>]+>|%\(\w+\)[a-z]|%[sd]|\{\w*\}")

pytestmark = pytest.mark.parametrize("code", CODES)


def catalogue(code: str, root: Path = ROOT) -> Path:
    return root / "locale" / code / "LC_MESSAGES" / "django.po"


@pytest.fixture(scope="module")
def anew(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalogues as `makemessages` writes them now, from a copy of the code."""
    require("gettext", bool(shutil.which("xgettext")), "GNU gettext")
    root = tmp_path_factory.mktemp("code")
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__", "*.woff2", "migrations")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    with pytest.MonkeyPatch.context() as patch, override_settings(LOCALE_PATHS=[root / "locale"]):
        patch.chdir(root)
        call_command("makemessages", locale=CODES, verbosity=0)
    return root


def compiled(po: Path, folder: Path) -> dict[object, str]:
    """Return a catalogue's texts, and check their formats."""
    mo = folder / "django.mo"
    subprocess.run(["msgfmt", "--check-format", "--output-file", mo, po], check=True)
    return texts_in(mo)


def texts_in(mo: Path) -> dict[object, str]:
    with mo.open("rb") as file:
        read = gettext.GNUTranslations(file)
    return {key: text for key, text in vars(read)["_catalog"].items() if key}


def messages_in(po: Path) -> list[str]:
    return po.read_text(encoding="utf-8").split("\n\n")[1:]


def strings_of(message: str, keyword: str) -> list[str]:
    """Return the texts of a message whose keyword fits."""
    found = re.findall(rf'^{keyword} ((?:"(?:[^"\\]|\\.)*"\n?)+)', message, re.MULTILINE)
    return ["".join(re.findall(r'^"?(.*?)"$', text, re.MULTILINE)).removeprefix('"') for text in found]


@pytest.mark.slow
def test_each_text_of_the_code_is_in_the_catalogue_and_no_other(code: str, anew: Path) -> None:
    wanted = {
        tuple(strings_of(message, r"msg(?:ctxt|id|id_plural)"))
        for message in messages_in(catalogue(code, anew))
    }
    had = {
        tuple(strings_of(message, r"msg(?:ctxt|id|id_plural)")) for message in messages_in(catalogue(code))
    }
    assert had == wanted, "run makemessages as CONTRIBUTING.md says"


def is_translated(message: str) -> bool:
    return all(strings_of(message, r"msgstr(?:\[\d\])?"))


def test_no_translation_is_a_guess(code: str) -> None:
    assert [each for each in messages_in(catalogue(code)) if each.startswith("#, fuzzy")] == []


def test_for_a_release_each_text_is_translated(code: str) -> None:
    missing = [message for message in messages_in(catalogue(code)) if not is_translated(message)]
    require("translations", not missing, f"{len(missing)} texts in “{code}”: {' '.join(missing[:3])}")


def test_no_translation_is_english(code: str) -> None:
    same = [
        text
        for message in filter(is_translated, messages_in(catalogue(code)))
        for text, *_ in [strings_of(message, r"msgid")]
        if text in strings_of(message, r"msgstr(?:\[\d\])?") and not is_same_in(code, text)
    ]
    assert same == []


def is_same_in(code: str, text: str) -> bool:
    words = PLACEHOLDER.sub(" ", text).split()
    return all(word in SAME.get(code, "").split() for word in words if _LETTER.search(word))


def test_a_translation_has_the_placeholders_of_its_text(code: str) -> None:
    for message in filter(is_translated, messages_in(catalogue(code))):
        *_, text = strings_of(message, r"msgid(?:_plural)?")
        wanted = sorted(PLACEHOLDER.findall(text))
        *singular, shown = strings_of(message, r"msgstr(?:\[\d\])?")
        assert sorted(PLACEHOLDER.findall(shown)) == wanted, message
        # A form for one thing needn't name the number.
        assert all(set(PLACEHOLDER.findall(each)) <= set(wanted) for each in singular), message


def test_what_is_compiled_is_the_catalogue(code: str, tmp_path: Path) -> None:
    require("gettext", bool(shutil.which("msgfmt")), "GNU gettext")
    assert texts_in(catalogue(code).with_suffix(".mo")) == compiled(catalogue(code), tmp_path), (
        "run compilemessages as CONTRIBUTING.md says"
    )
