"""References and rules are checked: each error names its file and its line or key; no database."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from coaching.library.references.current import References
from coaching.library.references.files import (
    UnusableFiles,
    find_reference_faults,
    read_reference_files,
)
from coaching.library.references.text import MAX_WORDS
from coaching.models import ReferenceArea
from tests.library.references.conftest import change


def test_the_shipped_files_have_no_fault_and_both_areas_have_enough() -> None:
    assert find_reference_faults() == []
    areas = Counter(reference.area for reference in read_reference_files().references)
    assert min(areas[area] for area in ReferenceArea) >= 24


def test_every_reference_is_short_and_names_how_to_tell_it_apart(shipped: References) -> None:
    for reference in shipped.by_type.values():
        assert len(reference.guidance.split()) <= MAX_WORDS
        for other in reference.look_alikes:
            assert f"- {other.file_type}: {other.tell}" in reference.guidance
    assert len(shipped.directory.splitlines()) == len(shipped.by_type)
    assert "payslip: Payslip (work)" in shipped.directory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("file_type: will", "file_type: wille", "file_type: it is wille, the file's name differs"),
        ("category: legal", "category: law", "category: law isn't known"),
        ("tags: [legal, ", "tags: [leagl, ", "tags: leagl isn't known"),
        ("tags: [legal, ", "tags: [legal, legal, ", "tags: legal stands there twice"),
        ("[last will and testament,", "[codicil,", "phrases: codicil stands there twice"),
        ("file_type: power-of-attorney", "file_type: power", "look_alikes: power isn't known"),
        ("file_type: power-of-attorney", "file_type: will", "look_alikes: will is the type itself"),
        ("folder: Legal", "folder: Lawyers", "filing.folder: Lawyers isn't known"),
        ("level: client", "level: shelf", "filing.level: Input should be 'client' or 'project'"),
        ("area: life", "area: death", "area: Input should be 'real_estate' or 'life'"),
        ("title: Will", "titel: Will", "title: Field required; titel: Extra inputs are not permitted"),
        ("title: Will", "title: [Will", "line 4: it isn't YAML"),
        ("---\n", "", "line 1: there is no frontmatter between two lines of ---"),
        ("## What it is", "## What this is", "heading “## What this is” isn't expected"),
        ("## What it is", "## What this is", "missing heading “## What it is”"),
        ("## What it is\n", "## What it is\n" + "word " * 200, "the limit is 250"),
    ],
)
def test_each_fault_is_named_with_its_file(root: Path, old: str, new: str, fault: str) -> None:
    change(root / "references" / "will.md", old, new)
    with pytest.raises(UnusableFiles) as refused:
        read_reference_files(root)
    found = [line for line in str(refused.value).splitlines() if fault in line]
    assert len(found) == 1, refused.value
    assert found[0].startswith("references/will.md: ")


def test_the_line_of_an_unexpected_heading_is_named(root: Path) -> None:
    path = root / "references" / "will.md"
    change(path, "## What to extract", "## Extras")
    line = path.read_text().splitlines().index("## Extras") + 1
    assert f"references/will.md: line {line}: heading “## Extras” isn't expected" in find_reference_faults(
        root
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("file_types: [insurance-schedule]", "file_types: [comet]", "rules.1.file_types: comet isn't known"),
        ("folder: Insurance\n", "folder: Insure\n", "rules.1.folder: Insure isn't known"),
        ("{category: tax, folder", "{category: taxes, folder", "taxes isn't known"),
        (
            "{category: tax, folder",
            "{category: money, client_types: [self], folder",
            "categories: tax has no rule for any client, to fall back on",
        ),
        (
            "file_types: [insurance-schedule]\n",
            "category: home\n    file_types: [will]\n",
            "rules.1: it needs",
        ),
        ("    client_types: [company]\n", "", "rules: payslip has two rules for any client"),
        ("client_types: [company]", "client_types: [club]", "rules.2.client_types.0: Input should be"),
        ("tags: [bill,", "tags: [bill, comet,", "tags: no reference has comet"),
        ("rules:\n", "rules: {\n", "line "),
    ],
)
def test_each_fault_of_the_rules_is_named_with_its_key(root: Path, old: str, new: str, fault: str) -> None:
    change(root / "placement.yaml", old, new)
    lines = find_reference_faults(root)
    assert any(fault in line for line in lines if line.startswith("placement.yaml: ")), lines


def test_a_file_that_is_no_text_and_missing_files_are_faults(root: Path) -> None:
    (root / "references" / "will.md").write_bytes(b"---\n\xff")
    assert "references/will.md: it isn't text in UTF-8" in find_reference_faults(root)
    shutil.rmtree(root / "references")
    (root / "placement.yaml").unlink()
    assert find_reference_faults(root) == [
        "references: there are no references",
        "placement.yaml: it can't be read (No such file or directory)",
    ]
