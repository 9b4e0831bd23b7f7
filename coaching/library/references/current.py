"""The references and placement rules in use, read from the database and kept per process."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.db.models import Count, Max

from coaching.library.references.placement import PlacementTable, Rule
from coaching.library.references.ranking import Ranked, ReferenceIndex
from coaching.library.references.text import ReferenceText, Vocabulary, parse_reference
from coaching.models import FilingLevel, PlacementRule, Reference


@dataclass(frozen=True)
class References:
    by_type: Mapping[str, ReferenceText]
    rules: Sequence[Rule]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that a classification may use."""
        found = self.by_type.values()
        return Vocabulary.of(
            file_types=self.by_type.keys(),
            categories={*(reference.category for reference in found), *(r.category for r in self.rules)}
            - {""},
            folders={rule.folder for rule in self.rules},
            tags={tag for reference in found for tag in reference.tags},
        )

    @cached_property
    def directory(self) -> str:
        """A line for each reference, sorted."""
        return "\n".join(self.by_type[file_type].line for file_type in sorted(self.by_type))

    @cached_property
    def placement(self) -> PlacementTable:
        categories = {name: reference.category for name, reference in self.by_type.items()}
        return PlacementTable.of(self.rules, categories)

    def only(self, file_types: Collection[str]) -> "References":
        """Return these types alone, with the rules that may place them."""
        by_type = {name: each for name, each in self.by_type.items() if name in file_types}
        categories = {"", *(each.category for each in by_type.values())}
        rules = [
            rule for rule in self.rules if rule.file_type in ("", *by_type) and rule.category in categories
        ]
        return References(by_type, rules)

    @cached_property
    def index(self) -> ReferenceIndex:
        return ReferenceIndex(self.by_type[file_type] for file_type in sorted(self.by_type))

    def in_category(self, category: str = "") -> Sequence[ReferenceText]:
        """Return the references of a category, or all, sorted."""
        found = (self.by_type[file_type] for file_type in sorted(self.by_type))
        return [reference for reference in found if category in ("", reference.category)]

    def find(self, query: str, *, tags: Collection[str] = ()) -> Sequence[Ranked]:
        """Return the references that words or a file type ask for, best first."""
        exact = "-".join(query.casefold().split())
        ranked = self.index.rank(text=query, name=query, tags=tags)
        if exact not in self.by_type:
            return ranked
        others = [found for found in ranked if found.file_type != exact]
        best = ranked[0].score if ranked else 1.0
        return [Ranked(file_type=exact, score=best), *others]


def current_references() -> References:
    """Return the references and rules in use. Two small queries, four more after a change."""
    return _references_at(_state_of(Reference), _state_of(PlacementRule))


def _state_of(model: type[Reference] | type[PlacementRule]) -> tuple[int, int | None]:
    """Return what changes with every change: states are only ever added to the history."""
    number, last = model.history.aggregate(Count("history_id"), Max("history_id")).values()
    return number, last


@lru_cache(maxsize=2)
def _references_at(*_states: tuple[int, int | None]) -> References:
    rows = Reference.objects.filter(is_retired=False)
    texts = [parse_reference(row.text) for row in rows]
    rules = [
        Rule(
            file_type=row.file_type,
            category=row.category,
            client_type=row.client_type,
            folder=row.folder,
            level=FilingLevel(row.level),
        )
        for row in PlacementRule.objects.all()
    ]
    return References({text.file_type: text for text in texts}, rules)
