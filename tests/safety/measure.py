"""How often the danger rules miss danger, and how often they raise false alarms.

Needs no database. Round 1 was written before any rule; its words decide which half is held out.
Each later round was new once, too, and the rules were improved with it, as with the `dev` sets;
`unseen.jsonl` and the `held_out` sets never were used so.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from coaching.safety.answers import danger_in_answer
from coaching.safety.danger import find_danger
from coaching.safety.figures import Figures
from tests.safety.sets import HELD_OUT as HELD_OUT_SETS
from tests.safety.sets import read_answers, read_rows

SENTENCES = Path(__file__).with_name("sentences.tsv")
UNSEEN = Path(__file__).with_name("unseen.jsonl")
TUNED, HELD_OUT, LATER = "round 1, tuned on", "round 1, held out", "rounds 2 to 8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with its label: `immediate`, `concern` or `none`."""

    round: int
    expected: str
    kind: str
    words: str

    @property
    def part(self) -> str:
        """The part of the set that it is in."""
        if self.round > 1:
            return LATER
        return TUNED if sha256(self.words.encode()).digest()[0] % 2 else HELD_OUT

    @property
    def found(self) -> str:
        """The rules' result."""
        return _level_of(self.words)


@cache
def _level_of(words: str) -> str:
    danger = find_danger(words)
    return danger.level if danger else "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The rules' results for some sentences: `missed` ones got no card and should have, `alarmed` the
    opposite.
    """

    dangerous: int
    harmless: int
    missed: Sequence[Sentence]
    alarmed: Sequence[Sentence]
    other_level: Sequence[Sentence]

    @property
    def miss_rate(self) -> float:
        """The share of dangerous sentences without a card."""
        return len(self.missed) / self.dangerous

    @property
    def alarm_rate(self) -> float:
        """The share of harmless sentences with one."""
        return len(self.alarmed) / self.harmless


def read_sentences() -> list[Sentence]:
    """Read all sentences."""
    rows = [line.split("\t") for line in SENTENCES.read_text().splitlines() if not line.startswith("#")]
    return [
        Sentence(round=int(number), expected=expected, kind=kind, words=words)
        for number, expected, kind, words in rows
    ]


def measure(sentences: Iterable[Sentence]) -> Measured:
    """Apply the rules to each sentence."""
    rows = [(sentence, sentence.found) for sentence in sentences]
    return Measured(
        dangerous=sum(sentence.expected != "none" for sentence, _ in rows),
        harmless=sum(sentence.expected == "none" for sentence, _ in rows),
        missed=[row for row, found in rows if row.expected != "none" and found == "none"],
        alarmed=[row for row, found in rows if row.expected == "none" and found != "none"],
        other_level=[
            row for row, found in rows if row.expected != found and "none" not in (row.expected, found)
        ],
    )


LABELS = {
    "immediate-en.tsv": "immediate", "immediate-other.tsv": "immediate", "grief-danger.tsv": "immediate",
    "concern-en.tsv": "concern", "concern-other.tsv": "concern", "ordinary.tsv": "none",
    "grief.tsv": "none", "ordinary-other.tsv": "none", "prose.tsv": "none",
}  # fmt: skip
"""The files of a set with sentences, and what these are."""


def read_set(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Yield file, language and words of a set's sentences."""
    for name in LABELS:
        for row in read_rows(folder / name):
            yield name, row[0] if len(row) > 1 else "en", row[-1]


def _unseen() -> Iterable[tuple[str, str, str]]:
    for line in UNSEEN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["label"], row["language"], row["text"]
    for folder in HELD_OUT_SETS:
        for name, language, words in read_set(folder):
            yield LABELS[name], language, words


@cache
def measure_unseen() -> dict[str, Figures]:
    """Apply the rules to the sentences of authors who never saw them: no rule may be fitted to these."""
    counts: dict[str, Counter[str]] = {"english": Counter(), "other": Counter()}
    for label, language, words in _unseen():
        count = counts["english" if language == "en" else "other"]
        count[label] += 1
        count[f"{label} found"] += find_danger(words) is not None
    return {
        name: Figures(
            immediate=count["immediate"],
            immediate_noticed=count["immediate found"],
            concern=count["concern"],
            concern_noticed=count["concern found"],
            harmless=count["none"],
            alarmed=count["none found"],
        )
        for name, count in counts.items()
    }


def table_of_set(folder: Path) -> str:
    """Return the figures of a set by file: sentences, those that got a card, and those of danger now."""
    counts: Counter[tuple[str, str]] = Counter()
    for name, language, words in read_set(folder):
        key = f"{name} {'en' if language == 'en' else 'other'}"
        danger = find_danger(words)
        counts[key, "all"] += 1
        counts[key, "carded"] += danger is not None
        counts[key, "immediate"] += danger is not None and danger.level == "immediate"
    for answer in read_answers(folder):
        key = f"answers.tsv {answer.label}"
        counts[key, "all"] += 1
        danger = danger_in_answer(answer.words, asked=answer.asked)
        counts[key, "carded"] += danger is not None
        counts[key, "immediate"] += danger is not None
    keys = dict.fromkeys(key for key, _ in counts)
    lines = [
        f"| {key} | {counts[key, 'all']} | {counts[key, 'carded']} | {counts[key, 'immediate']} |"
        for key in keys
    ]
    return "\n".join(["| file | sentences | carded | immediate |", "|---|---|---|---|", *lines])


def table_of(sentences: Sequence[Sentence]) -> str:
    """Return the figures as tables: by part, and by kind of sentence."""
    lines = [
        "| sentences | dangerous | missed | | harmless | false alarms | | other level |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for part in (TUNED, HELD_OUT, LATER, "all"):
        got = measure(row for row in sentences if part in (row.part, "all"))
        lines.append(
            f"| {part} | {got.dangerous} | {len(got.missed)} | {got.miss_rate:.1%} | {got.harmless} "
            f"| {len(got.alarmed)} | {got.alarm_rate:.1%} | {len(got.other_level)} |"
        )
    wrong = measure(sentences)
    counts = Counter(row.kind for row in sentences)
    misses, alarms = Counter(row.kind for row in wrong.missed), Counter(row.kind for row in wrong.alarmed)
    lines += ["", "| kind | sentences | missed | false alarms |", "|---|---|---|---|"]
    lines += [f"| {kind} | {count} | {misses[kind]} | {alarms[kind]} |" for kind, count in counts.items()]
    return "\n".join(lines)
