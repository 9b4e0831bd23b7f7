"""Results of runs, one JSON file a model, and `docs/evals/README.md`, which is made from them."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.evals.checks import CHECKS, faults_of
from tests.evals.judge import Better, Judged
from tests.evals.situation import Situation
from tests.evals.transcript import Transcript

FOLDER = Path(__file__).parents[2] / "docs" / "evals"
PAGE = FOLDER / "README.md"
START, END = "<!-- made by python -m tests.evals --write -->", "<!-- end -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one situation. `faults` are by check; the figures of a judge are None without one."""

    name: str
    group: str
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    answer_seconds: Sequence[float] = ()
    micro_usd: int | None = 0
    met: int | None = None
    points: int | None = None
    better: Better | None = None
    agreed: int | None = None

    @property
    def is_passed(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of all situations by a model on a day. `judge_micro_usd` is what its judge was paid."""

    model: str
    day: str
    seconds: float
    rows: Sequence[Row]
    judge: str = ""
    judge_micro_usd: int | None = 0

    @property
    def passed(self) -> int:
        return sum(row.is_passed for row in self.rows)

    @property
    def is_answered(self) -> bool:
        """Whether the model answered at all: a server that is down says nothing about its model."""
        return any("ended" not in row.faults for row in self.rows)

    @property
    def micro_usd(self) -> int | None:
        costs = [row.micro_usd for row in self.rows]
        return None if None in costs else sum(cost or 0 for cost in costs)


def row_of(situation: Situation, found: Transcript | None, judged: Judged | None = None) -> Row:
    """Return the row of a run; None for a run that broke off."""
    if found is None:
        return Row(name=situation.name, group=situation.group, faults={"ended": ["the run broke off"]})
    figures = {}
    if judged is not None:
        figures = {"met": len(judged.met), "points": judged.points, "agreed": judged.agreed}
    return Row(
        name=situation.name,
        group=situation.group,
        faults=faults_of(situation, found),
        answer_seconds=[round(answer.seconds, 2) for answer in found.answers],
        micro_usd=found.spent.micro_usd,
        better=judged.better if judged else None,
        **figures,
    )


def write_run(run: Run, folder: Path = FOLDER) -> Path:
    """Store a run instead of the model's last one, and make the page anew."""
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in run.model)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n")
    page = folder / PAGE.name
    text = page.read_text() if page.exists() else f"{START}\n{END}\n"
    page.write_text(with_tables(text, read_runs(folder)))
    return path


def read_runs(folder: Path = FOLDER) -> Sequence[Run]:
    """Read all stored runs, by model."""
    runs = []
    for path in sorted(folder.glob("*.json")):
        values = json.loads(path.read_text())
        runs.append(Run(**{**values, "rows": [Row(**row) for row in values["rows"]]}))
    return runs


def with_tables(page: str, runs: Sequence[Run]) -> str:
    """Return the page with the tables of these runs between its marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    made = "\n\n".join([_by_model(runs), _by_check(runs), _by_situation(runs)])
    return f"{before}{START}\n\n{made}\n\n{END}{after}"


def _by_model(runs: Sequence[Run]) -> str:
    head = (
        "| model | passed | judge: points met | better, equal, worse than the file’s answer "
        "| same in both orders | cost | an answer (p50, p95) | whole run | day |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(_line_of(run) for run in runs)])


def _line_of(run: Run) -> str:
    seconds = sorted(each for row in run.rows for each in row.answer_seconds) or [0.0]
    late = seconds[min(len(seconds) - 1, round(0.95 * len(seconds)))]
    cells = [
        f"`{run.model}`",
        f"{run.passed} of {len(run.rows)}",
        *_judged_cells(run),
        _dollars(run.micro_usd),
        f"{statistics.median(seconds):.1f} s, {late:.1f} s",
        f"{run.seconds / 60:.1f} min",
        run.day,
    ]
    return "| " + " | ".join(cells) + " |"


def _judged_cells(run: Run) -> Sequence[str]:
    judged = [row for row in run.rows if row.points is not None]
    if not judged:
        return ["no judge", "", ""]
    met, points = (sum(getattr(row, name) or 0 for row in judged) for name in ("met", "points"))
    better = [row.better for row in judged]
    agreed = sum(row.agreed or 0 for row in judged)
    return [
        f"{met} of {points} (`{run.judge}`, {_dollars(run.judge_micro_usd)}, {len(judged)} situations)",
        f"{better.count('model')}, {better.count('neither')}, {better.count('best')}",
        f"{agreed / (points + len(judged)):.0%}",
    ]


def _by_check(runs: Sequence[Run]) -> str:
    lines = [f"| check | {' | '.join(f'`{run.model}`' for run in runs)} |", f"|---|{'---|' * len(runs)}"]
    for name, check in CHECKS.items():
        failed = [sum(name in row.faults for row in run.rows) for run in runs]
        cells = " | ".join(f"{count} failed" if count else "✓" for count in failed)
        meaning = (check.__doc__ or name).splitlines()[0].rstrip(".").replace("|", "\\|")
        lines.append(f"| {meaning} | {cells} |")
    return "\n".join(lines)


def _by_situation(runs: Sequence[Run]) -> str:
    lines = [f"| situation | {' | '.join(f'`{run.model}`' for run in runs)} |", f"|---|{'---|' * len(runs)}"]
    rows = [{row.name: row for row in run.rows} for run in runs]
    groups = {row.name: row.group for run in runs for row in run.rows}
    for name in sorted(groups, key=lambda name: (groups[name], name)):
        cells = " | ".join(_cell(found.get(name)) for found in rows)
        lines.append(f"| {groups[name]}: [{name}](../../tests/evals/situations/{name}.yaml) | {cells} |")
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    judged = "" if row.points is None else f" {row.met}/{row.points}"
    return ("✓" if row.is_passed else ", ".join(row.faults)) + judged


def _dollars(micro_usd: int | None) -> str:
    return "unknown" if micro_usd is None else f"${micro_usd / 1_000_000:.2f}"
