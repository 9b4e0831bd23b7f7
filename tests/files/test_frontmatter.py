"""Frontmatter: written by the server only, parsed strictly."""

import json
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from coaching.files.attributes import FileAttributes, check_attributes
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import build_frontmatter, parse_file, render_file, strip_frontmatter
from coaching.files.types import ATTRIBUTE_ORDER, RULES
from coaching.models import PRIVATE_TYPES, FileType, LifeDomain
from coaching.models.life import DomainStatus

DAY = date(2026, 11, 21)

lines = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=80
).filter(lambda text: text.strip())
attributes = st.builds(
    FileAttributes,
    status=st.none() | st.sampled_from(DomainStatus),
    updated_rating=st.none() | st.integers(1, 5),
    energy=st.none() | lines,
    mood_signal=st.none() | lines,
    domains_touched=st.none() | st.lists(st.sampled_from(LifeDomain), max_size=8),
    intention=st.none() | lines,
    priorities=st.none() | st.lists(lines, max_size=10),
    themes=st.none() | st.lists(lines, max_size=10),
    preview_line=st.none() | lines,
)
bodies = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=300)


@given(st.sampled_from(FileType), attributes, bodies)
def test_what_is_written_is_read_back(file_type: FileType, given: FileAttributes, body: str) -> None:
    frontmatter = build_frontmatter(file_type, given, day=DAY)
    text = render_file(frontmatter, body)
    parsed, parsed_body = parse_file(text)
    assert parsed == frontmatter
    assert list(parsed) == list(frontmatter)
    assert parsed_body == body.strip() + "\n"
    json.dumps(parsed, allow_nan=False)
    assert render_file(build_frontmatter(file_type, given, day=DAY), body) == text


def test_the_order_is_fixed_and_the_bytes_are_plain() -> None:
    given = FileAttributes(preview_line="Läuft: gut", updated_rating=4, status=DomainStatus.GOOD)
    text = render_file(build_frontmatter(FileType.DOMAIN, given, day=DAY), "\n\n# Career\n\nText  \n\n")
    assert text == (
        "---\ntype: domain\nupdated: 2026-11-21\nstatus: good\nupdated_rating: 4\n"
        "preview_line: 'Läuft: gut'\n---\n\n# Career\n\nText\n"
    )
    log = render_file(build_frontmatter(FileType.DAILY_LOG, FileAttributes(), day=DAY), "x")
    assert log == "---\ntype: daily-log\ndate: 2026-11-21\n---\n\nx\n"


@pytest.mark.parametrize(
    ("content", "body"),
    [
        ("---\nstatus: thriving\n---\nBody", "Body"),
        ("\ufeff\n---\r\nstatus: thriving\r\nlist:\r\n  - a\r\n- b\r\n---\r\nBody", "Body"),
        ("---\nstatus: [broken\n]\n# note\n---\nBody", "Body"),
        ("---\na: 1\n---\n\n---\nb: 2\n...\nBody", "Body"),
        ("---\n---\nBody", "Body"),
        ("---\nstatus: thriving\n---", ""),
        ("Body\n---\nstatus: thriving\n---\n", "Body\n---\nstatus: thriving\n---\n"),
        ("---\nA line between two rules.\n---\nBody", "---\nA line between two rules.\n---\nBody"),
        ("---\nstatus: thriving\nBody without an end", "---\nstatus: thriving\nBody without an end"),
        ("--- \n", "--- \n"),
        ("# Title\n\nBody", "# Title\n\nBody"),
    ],
)
def test_frontmatter_in_the_content_is_cut_off_and_nothing_else(content: str, body: str) -> None:
    assert strip_frontmatter(content).strip() == body.strip()


@given(bodies)
def test_stripping_twice_is_stripping_once(text: str) -> None:
    once = strip_frontmatter(text)
    assert strip_frontmatter(once) == once


def test_a_model_cannot_set_attributes_through_the_content() -> None:
    content = "---\ntype: domain\nstatus: in_crisis\nupdated_rating: 1\n---\nAll is well."
    text = render_file(
        build_frontmatter(FileType.DOMAIN, FileAttributes(), day=DAY), strip_frontmatter(content)
    )
    assert parse_file(text)[0] == {"type": "domain", "updated": "2026-11-21"}


def test_many_heads_and_long_texts_are_stripped_quickly() -> None:
    assert strip_frontmatter("---\na: 1\n---\n" * 7_000) == ""
    assert strip_frontmatter("---\n" + "a: 1\n" * 19_000).startswith("---")
    assert strip_frontmatter("\n" * 99_000 + "---") == "\n" * 99_000 + "---"


@pytest.mark.parametrize(
    "block",
    [
        "a: &a [x, x]\nb: [*a, *a]",
        "a: &a {k: *a}",
        "a: !!python/object/apply:os.system [id]",
        "a: !!binary aGk=",
        "a: !!set {x}",
        "a: .nan",
        "a: .inf",
        'a: "\\0"',
        'a: "\\ud800"',
        "a: 2026-99-99",
        "1: one",
        "? [a, b]\n: c",
        pytest.param("a: [" + "[" * 5_000, marks=pytest.mark.slow),
        "a: " + "{b: " * 3_000 + "}" * 3_000,
        "a: " + "9" * 5_000,
        "a: 0x" + "f" * 5_000,
        "a: [{b: -0x" + "f" * 5_000 + "}]",
        "a: 0b" + "1" * 15_000,
        "a: 1" + ":59" * 3_000,
        "a: " + "x" * 20_000,
        "a: b: c",
        "a:\n\t- b",
    ],
)
def test_hostile_yaml_is_read_as_nothing(block: str) -> None:
    frontmatter, body = parse_file(f"---\n{block}\n---\n\nBody\n")
    assert frontmatter == {}
    assert body.endswith("Body\n")


@given(st.text(max_size=200))
def test_any_text_can_be_parsed_and_the_values_are_json(text: str) -> None:
    for candidate in (text, f"---\na: {text}\n---\n{text}"):
        frontmatter, _ = parse_file(candidate)
        json.dumps(frontmatter, allow_nan=False).encode()


def test_other_readers_of_yaml_read_the_same() -> None:
    given = FileAttributes(intention="yes", priorities=["no", "2026-01-01", "1e3", "- dash", "# hash"])
    text = render_file(build_frontmatter(FileType.DAY_PLAN, given, day=DAY), "x")
    read = yaml.safe_load(text.split("---\n")[1])
    assert read["intention"] == "yes"
    assert read["priorities"] == ["no", "2026-01-01", "1e3", "- dash", "# hash"]
    assert read["date"] == DAY


@pytest.mark.parametrize(
    "values",
    [
        {"status": "fine"},
        {"updated_rating": 0},
        {"updated_rating": 6},
        {"domains_touched": ["work"]},
        {"energy": ""},
        {"energy": "   "},
        {"energy": "x" * 81},
        {"mood_signal": "a\x00b"},
        {"mood_signal": "\ud800"},
        {"priorities": ["ok", "\udfff"]},
        {"priorities": ["p"] * 11},
        {"intention": "x" * 301},
        {"colour": "blue"},
    ],
)
def test_attributes_outside_their_type_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FileAttributes.model_validate(values)


def test_attributes_become_one_line_each_and_domains_come_once() -> None:
    given = FileAttributes.model_validate(
        {"preview_line": " two\n lines\u2028here ", "domains_touched": ["play", "career", "play"]}
    )
    assert given.given() == {"domains_touched": ["play", "career"], "preview_line": "two lines here"}


def test_an_attribute_of_another_type_is_refused_and_the_fitting_ones_are_named() -> None:
    with pytest.raises(FileRefused, match=r"status doesn't belong to the type daily-log.*energy, mood"):
        check_attributes(FileType.DAILY_LOG, FileAttributes(status=DomainStatus.GOOD, energy="low"))


def test_every_attribute_belongs_to_a_type_and_every_type_but_private_ones_takes_a_preview() -> None:
    assert set(FileAttributes.model_fields) == set(ATTRIBUTE_ORDER)
    assert set().union(*(rule.attributes for rule in RULES.values())) == set(ATTRIBUTE_ORDER)
    assert {type_ for type_, rule in RULES.items() if "preview_line" not in rule.attributes} == PRIVATE_TYPES
