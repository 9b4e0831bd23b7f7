"""Where a document is filed: the most specific rule wins, and the same input always gives the same place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext_noop

from coaching.models import FilingLevel

NO_RULE = gettext_noop("There’s no rule for where documents of this type are filed.")
NO_PROJECT = gettext_noop("Documents of this type belong in a project, and this one isn’t in any.")

RuleKind = Literal["type and client type", "type", "category and client type", "category", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of a file type or of a category, the other is empty. An empty client type is any."""

    file_type: str = ""
    category: str = ""
    client_type: str = ""
    folder: str
    level: FilingLevel

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file_type, self.category, self.client_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Folder and level. `review` says why a document can't be filed there by itself; usually empty."""

    folder: str
    level: FilingLevel | Literal[""]
    category: str
    rule: RuleKind
    review: str = ""


@dataclass(frozen=True, slots=True)
class PlacementTable:
    """All rules, by file type, category and client type; and the category of each known type."""

    rules: Mapping[tuple[str, str, str], Rule]
    categories: Mapping[str, str]

    @classmethod
    def of(cls, rules: Iterable[Rule], categories: Mapping[str, str]) -> "PlacementTable":
        """Return the table of some rules."""
        return cls({rule.key: rule for rule in rules}, categories)

    def place(self, *, file_type: str, category: str, client_type: str = "", has_project: bool) -> Placement:
        """Return where a document is filed. `category` counts for a type that isn't known."""
        category = self.categories.get(file_type, category)
        candidates: list[tuple[RuleKind, tuple[str, str, str]]] = [
            ("type and client type", (file_type, "", client_type)),
            ("type", (file_type, "", "")),
            ("category and client type", ("", category, client_type)),
            ("category", ("", category, "")),
        ]
        for kind, key in candidates if client_type else candidates[1::2]:
            if rule := self.rules.get(key):
                lacks_project = rule.level == FilingLevel.PROJECT and not has_project
                return Placement(
                    folder=rule.folder,
                    level=rule.level,
                    category=category,
                    rule=kind,
                    review=NO_PROJECT if lacks_project else "",
                )
        return Placement(folder="", level="", category=category, rule="none", review=NO_RULE)
