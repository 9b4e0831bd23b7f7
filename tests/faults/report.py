"""The results of a run: points, violations, and recovery times."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Report:
    """A fault's run. `seconds` are recovery times as defined by the scenario."""

    fault: str
    seed: int
    points: int = 0
    violations: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    facts: dict[str, int] = field(default_factory=dict)

    def count(self, fact: str, number: int = 1) -> None:
        """Count an occurrence for the report."""
        self.facts[fact] = self.facts.get(fact, 0) + number

    def expect(self, is_so: bool, sentence: str) -> None:
        """Record a violation if the condition is false."""
        if not is_so:
            self.violations.append(sentence)

    @property
    def worst_seconds(self) -> float:
        """The longest recovery."""
        return max(self.seconds, default=0.0)

    def row(self) -> str:
        """Return the run as a row of the table."""
        facts = ", ".join(f"{number} {fact}" for fact, number in sorted(self.facts.items()))
        return (
            f"| {self.fault} | {self.seed} | {self.points} | {len(self.violations)} |"
            f" {self.worst_seconds:.2f} | {facts} |"
        )
