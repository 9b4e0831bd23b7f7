"""Reads and checks the references and placement rules that are shipped as files, and syncs them.

`references/<file_type>.md` holds one type of document; `placement.yaml` the folders, tags and categories that
there are, and the rules that differ from a reference's own filing. Only the sync needs the database.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.library.references.placement import Rule
from coaching.library.references.store import SyncReport, sync_references
from coaching.library.references.text import (
    Line,
    ReferenceText,
    Slug,
    UnusableReference,
    Vocabulary,
    explain,
    load_yaml,
    parse_reference,
    reference_faults,
)
from coaching.models import ClientType, FilingLevel

RULES_FILE = "placement.yaml"
REFERENCES_FOLDER = "references"


class _RuleLine(BaseModel):
    """A line of the rules: types or a category, for some client types or any."""

    model_config = ConfigDict(extra="forbid", strict=True)

    file_types: list[Slug] = []
    category: str = ""
    client_types: list[Annotated[ClientType, Field(strict=False)]] = []
    folder: Line
    level: Annotated[FilingLevel, Field(strict=False)]


class _PlacementFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    categories: dict[Slug, Line]
    folders: list[Line]
    tags: list[Slug]
    rules: list[_RuleLine]


class UnusableFiles(ValueError):
    """Files that can't be used. The message has a line per error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceFiles:
    """What the files say. `rules` has also the filing of each reference."""

    references: tuple[ReferenceText, ...]
    rules: tuple[Rule, ...]


def library_root() -> Path:
    """Return the folder of the shipped references and rules."""
    return Path(__file__).parent.parent


def read_reference_files(root: Path | None = None) -> ReferenceFiles:
    """Read all files. Raises `UnusableFiles` with every error."""
    found, faults = _read(root or library_root())
    if faults:
        raise UnusableFiles("\n".join(faults))
    return found


def find_reference_faults(root: Path | None = None) -> list[str]:
    """Return every error of the files, one line each: `references/lease.md: tags: …`."""
    return _read(root or library_root())[1]


def sync_reference_files(root: Path | None = None) -> SyncReport:
    """Load the files into the database; operators' changes stay. Raises `UnusableFiles`."""
    files = read_reference_files(root)
    return sync_references(files=files.references, rules=files.rules)


def _read(root: Path) -> tuple[ReferenceFiles, list[str]]:
    references, faults = _read_references(root / REFERENCES_FOLDER)
    try:
        placement = _read_placement(root / RULES_FILE)
    except UnusableFiles as error:
        return ReferenceFiles(references=(), rules=()), [*faults, str(error)]
    known = Vocabulary.of(
        # A file that can't be read still names its type, so that others may refer to it.
        file_types={path.stem for path in (root / REFERENCES_FOLDER).glob("*.md")},
        categories=placement.categories,
        folders=placement.folders,
        tags=placement.tags,
    )
    for reference in references.values():
        where = f"{REFERENCES_FOLDER}/{reference.file_type}.md"
        faults += [f"{where}: {fault}" for fault in reference_faults(reference, known)]
    rules = (*_rules_of(references), *_expand(placement.rules))
    faults += [f"{RULES_FILE}: {fault}" for fault in _placement_faults(placement, known, references)]
    faults += [f"{RULES_FILE}: rules: {fault}" for fault in _doubled(rules)]
    return ReferenceFiles(references=tuple(references.values()), rules=rules), faults


def _read_references(folder: Path) -> tuple[Mapping[str, ReferenceText], list[str]]:
    references: dict[str, ReferenceText] = {}
    faults = []
    for path in sorted(folder.glob("*.md")):
        where = f"{REFERENCES_FOLDER}/{path.name}"
        try:
            reference = parse_reference(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            faults.append(f"{where}: it isn't text in UTF-8")
        except UnusableReference as error:
            faults.append(f"{where}: {error}")
        else:
            if reference.file_type != path.stem:
                faults.append(f"{where}: file_type: it is {reference.file_type}, the file's name differs")
            else:
                references[reference.file_type] = reference
    if not references and not faults:
        faults.append(f"{REFERENCES_FOLDER}: there are no references")
    return references, faults


def _read_placement(path: Path) -> _PlacementFile:
    try:
        return _PlacementFile.model_validate(load_yaml(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UnusableFiles(f"{path.name}: it can't be read ({error.strerror})") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnusableFiles(f"{path.name}: line {line}: it isn't YAML ({error.problem})") from error
    except ValidationError as error:
        raise UnusableFiles("\n".join(f"{path.name}: {fault}" for fault in explain(error))) from error


def _rules_of(references: Mapping[str, ReferenceText]) -> Iterator[Rule]:
    for reference in references.values():
        yield Rule(file_type=reference.file_type, folder=reference.folder, level=reference.level)


def _expand(lines: Sequence[_RuleLine]) -> Iterator[Rule]:
    for line in lines:
        for client_type in map(str, line.client_types) if line.client_types else [""]:
            for file_type in line.file_types or [""]:
                yield Rule(
                    file_type=file_type,
                    category=line.category,
                    client_type=client_type,
                    folder=line.folder,
                    level=line.level,
                )


def _placement_faults(
    placement: _PlacementFile, known: Vocabulary, references: Mapping[str, ReferenceText]
) -> Iterator[str]:
    for number, line in enumerate(placement.rules):
        where = f"rules.{number}"
        if bool(line.file_types) == bool(line.category):
            yield f"{where}: it needs either file_types or a category"
        if line.category and line.category not in known.categories:
            yield f"{where}.category: {line.category} isn't known"
        if line.folder not in known.folders:
            yield f"{where}.folder: {line.folder} isn't known"
        for file_type in line.file_types:
            if file_type not in known.file_types:
                yield f"{where}.file_types: {file_type} isn't known"
    fallbacks = {line.category for line in placement.rules if not line.client_types}
    for category in placement.categories:
        if category not in fallbacks:
            yield f"categories: {category} has no rule for any client, to fall back on"
    unused = set(placement.tags) - {tag for reference in references.values() for tag in reference.tags}
    if unused:
        yield f"tags: no reference has {', '.join(sorted(unused))}"


def _doubled(rules: Sequence[Rule]) -> list[str]:
    counts = Counter(rule.key for rule in rules)
    return [
        f"{file_type or category} has two rules for {client_type or 'any'} client"
        for (file_type, category, client_type), count in counts.items()
        if count > 1
    ]
