"""What classifications are built from: the skills, the references, the client, and the user's corrections."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coaching.library.documents.corrections import read_corrections
from coaching.library.references.current import References, current_references
from coaching.library.references.text import HEADINGS, ReferenceText, Vocabulary
from coaching.models import Client, DocumentCorrection, Profile
from coaching.skills.loader import skill_text

SKILL = "document-classify"
COMPACT_SKILL = "compact-classify"
"""For a model whose context is small; it says of the facts, too, what it must."""
MAX_CORRECTIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What classifications are built from: the texts of the skills and the references."""

    skill: str
    compact_skill: str
    references: References

    @property
    def vocabulary(self) -> Vocabulary:
        return self.references.vocabulary

    def only(self, file_types: Collection[str]) -> "Knowledge":
        """Return what is known of these types alone."""
        return replace(self, references=self.references.only(file_types))

    def text_of(self, file_type: str) -> str:
        """Return how a type is recognised, as a call carries it; empty for an unknown one."""
        found = self.references.by_type.get(file_type)
        if found is None:
            return ""
        # What to extract is for the job that reads the whole text.
        guidance = found.guidance.partition(f"## {HEADINGS[-1]}")[0].strip()
        return f"{guidance}\n\n## Phrases\n\n{'; '.join(found.phrases)}"

    def system(self) -> list[dict[str, Any]]:
        types = "\n".join(map(_line, self.references.in_category()))
        return _system(
            self.skill.strip(),
            f"## Folders\n\n{'; '.join(self.vocabulary.folders)}",
            f"## Tags\n\n{', '.join(self.vocabulary.tags)}",
            f"## File types\n\n{types}",
        )

    def compact_system(self) -> list[dict[str, Any]]:
        """Return `system` for a small context: the short skill, and of each type no more than its title."""
        types = "\n".join(f"- {each.file_type}: {each.title}" for each in self.references.in_category())
        return _system(
            self.compact_skill.strip(),
            f"## Tags\n\n{', '.join(self.vocabulary.tags)}",
            f"## File types\n\n{types}",
        )


def _system(*parts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "\n\n".join(parts), "cache_control": {"type": "ephemeral"}}]


def _line(reference: ReferenceText) -> str:
    """Return a type with its title, category and tags, and how it differs from others."""
    tells = " ".join(f"Not {other.file_type}: {other.tell}" for other in reference.look_alikes)
    tags = ", ".join(reference.tags)
    return f"- {reference.file_type}: {reference.title} ({reference.category}; {tags}). {tells}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a call says about its documents besides them. `language` is what the owner chose for pages."""

    client: Client
    corrections: Sequence[DocumentCorrection]
    language: str = ""


def read_knowledge() -> Knowledge:
    """Read what all classifications are built from. Sync ORM code."""
    return Knowledge(
        skill=skill_text(SKILL),
        compact_skill=skill_text(COMPACT_SKILL),
        references=current_references(),
    )


def read_surroundings(user_id: int, client_id: int) -> Surroundings:
    """Read the client, what the user has corrected for it lately, and their language. Sync ORM code."""
    client = Client.of(user_id).get(id=client_id)
    corrections = read_corrections(user_id=user_id, client_id=client_id, limit=MAX_CORRECTIONS)
    language = Profile.of(user_id).values_list("language", flat=True).first() or ""
    return Surroundings(client=client, corrections=corrections[::-1], language=language)
