"""The tables of a drill as Markdown, and which limits were missed.

Over 300 lines, because all figures share how messages and requests are chosen by time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import psutil

from tests.drill.audit import Audit
from tests.drill.disruptions import Disruption
from tests.drill.load import Load
from tests.drill.measure import LOAD, Counts, Meter, Sample, cpu_between, percentile
from tests.drill.model import FIRST_WORD_SECONDS
from tests.drill.people import LAST_CODES, Said
from tests.drill.site import Asked

CORES = psutil.cpu_count() or 1
MOST_OF_CORES = 0.7
LEAST_STARTED_A_SECOND = 1.0
CALM_FIRST_WORD_SECONDS = 1.0
"""At most, beside the model's own."""
MOST_WAITED_SECONDS = 20.0
MOST_MEMORY = 1.05
OF_SAGE = ("web", "worker")
WAITING = ("todo", "doing")
"""Jobs that succeeded are kept for three days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """All that was measured. `calm` and `soak` are from when to when, of the loop's clock."""

    load: Load
    meter: Meter
    disruptions: Sequence[Disruption]
    calm: tuple[float, float]
    soak: tuple[float, float] | None
    ended: float
    rows: tuple[Mapping[str, int], Mapping[str, int]] | None
    audit: Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its limit; `is_met` None where there is none."""

    name: str
    measured: str
    limit: str = ""
    is_met: bool | None = None


def write(drill: Drill) -> str:
    """Return the whole report."""
    blocks = [_table_of_figures(figures(drill)), _table_of_cpu(drill)]
    if drill.disruptions:
        blocks.append(_table_of_disruptions(drill))
    if drill.soak and drill.rows:
        blocks += [_table_of_memory(drill), _table_of_rows(drill.rows)]
    violations = [f"- {sentence}" for sentence in drill.audit.violations]
    return "\n\n".join([*blocks, *(["\n".join(violations)] if violations else [])])


def figures(drill: Drill) -> list[Figure]:
    """Return the figures that have limits, and what they rest on."""
    share = _share_of_cores(drill)
    waited, whom = _longest_wait(drill)
    return [
        Figure(name="sockets", measured=str(len(drill.load.people))),
        *_figures_of(drill, "calm", drill.calm),
        _limited(f"share of all {CORES} cores, calm", f"{share:.0%}", "≤ 70 %", share <= MOST_OF_CORES),
        *_figures_of_messages(drill.audit),
        *_figures_of_pages(drill),
        *_figures_of_requests(drill),
        _limited(f"longest wait ({whom}), s", f"{waited:.1f}", "≤ 20", waited <= MOST_WAITED_SECONDS),
        Figure(name="connections of PostgreSQL, most", measured=str(_most_connections(drill))),
        *_soak_figures(drill),
        _none("violations", len(drill.audit.violations)),
    ]


def _figures_of(drill: Drill, name: str, period: tuple[float, float]) -> list[Figure]:
    """Return the figures of a period without disruptions. A message without a word counts as infinite."""
    said = _said_between(drill, *period)
    began, ended = period
    accepted = sum(
        one.accepted_at is not None and began <= one.accepted_at < ended for one in drill.load.said
    )
    rate = accepted / (ended - began)
    firsts = [inf if (value := _first_word(one)) is None else value for one in said]
    p50, p95 = (percentile(firsts, share) - FIRST_WORD_SECONDS for share in (0.5, 0.95))
    failed = sum(one.key in drill.audit.keys_in_words for one in said)
    return [
        _limited(f"accepted messages a second, {name}", f"{rate:.2f}", "≥ 1", rate >= LEAST_STARTED_A_SECOND),
        Figure(
            name=f"first word p50 / p95 above the model's, {name}, s",
            measured=f"{p50:.2f} / {p95:.2f}",
            limit="p95 ≤ 1",
            is_met=p95 <= CALM_FIRST_WORD_SECONDS,
        ),
        _none(f"answers that failed with a sentence, {name}", failed),
        _none(f"refusals shown, {name}", sum(one.refusals for one in said)),
    ]


def _figures_of_messages(audit: Audit) -> list[Figure]:
    lost = sum("is stored" in one or "is answered by" in one for one in audit.violations)
    return [
        Figure(name="messages, of them accepted", measured=f"{audit.said}, {audit.accepted}"),
        _none("messages lost, or stored twice under any id", lost),
        Figure(
            name="answers whole / ended with a sentence / neither",
            measured=f"{audit.whole} / {audit.in_words} / {audit.accepted - audit.whole - audit.in_words}",
            limit="neither: 0",
            is_met=audit.accepted == audit.whole + audit.in_words,
        ),
        Figure(
            name="refusals shown, sent anew; of them stored twice", measured=f"{audit.refused}, {audit.twice}"
        ),
        Figure(name="files accepted, by state", measured=_counted(audit.documents)),
    ]


def _figures_of_pages(drill: Drill) -> list[Figure]:
    people = drill.load.people
    lost = [began for person in people for began, _ in person.without_socket(drill.ended)]
    calmly = [at for at in lost if not any(one.began <= at <= one.ended for one in drill.disruptions)]
    left = [code for person in people for code in person.close_codes if code in LAST_CODES]
    away = [one.name for one in drill.disruptions if not one.is_everybody_back]
    return [
        _none("sockets lost while nothing is disrupted", len(calmly)),
        _none("pages that were closed for good", len(left)),
        _limited(
            "after what not everybody came back in a minute", ", ".join(away) or "none", "none", not away
        ),
        _none("messages that nobody was free to write", drill.load.nobody_free),
    ]


def _figures_of_requests(drill: Drill) -> list[Figure]:
    rolls = [one for one in drill.disruptions if one.how == "roll"]
    refused = [asked for one in rolls for asked in _refused(drill, one)]
    of_sage = [one for one in rolls if one.part.kind not in ("postgres", "s3")]
    failed = [asked for one in of_sage for asked in _asked_during(drill, one) if asked.is_failed]
    errors = _errors_meanwhile(drill)
    return [
        _none("refused by the proxy during restarts", len(refused)),
        _none("errors of Sage during restarts of all but PostgreSQL and S3", len(failed)),
        _limited("errors of Sage while nothing is disrupted", _counted(errors), "none", not errors),
    ]


def _none(name: str, count: int) -> Figure:
    return _limited(name, str(count), "0", not count)


def _limited(name: str, measured: str, limit: str, is_met: bool) -> Figure:
    return Figure(name=name, measured=measured, limit=limit, is_met=is_met)


def _said_between(drill: Drill, began: float, ended: float) -> list[Said]:
    return [said for said in drill.load.said if began <= said.said_at < ended]


def _first_word(said: Said) -> float | None:
    return None if said.first_word_at is None else said.first_word_at - said.said_at


def _accepted_after(said: Said) -> float | None:
    return None if said.accepted_at is None else said.accepted_at - said.said_at


def _asked_during(drill: Drill, disruption: Disruption) -> list[Asked]:
    """Return the requests that were under way during a disruption."""
    return [
        asked
        for asked in drill.load.site.asked
        if asked.began < disruption.ended and asked.began + asked.seconds > disruption.began
    ]


def _said_during(drill: Drill, disruption: Disruption) -> list[Said]:
    """Return the messages that waited for something during a disruption."""
    return [
        said
        for said in drill.load.said
        if said.said_at < disruption.ended and (said.ended_at or disruption.ended) > disruption.began
    ]


def _refused(drill: Drill, disruption: Disruption) -> list[Asked]:
    return [asked for asked in _asked_during(drill, disruption) if asked.is_refused]


def _errors_meanwhile(drill: Drill) -> Counter[str]:
    """Return the statuses of failed requests that no disruption can have caused."""
    caused = {id(asked) for one in drill.disruptions for asked in _asked_during(drill, one)}
    asked = [each for each in drill.load.site.asked if id(each) not in caused]
    return Counter(f"{each.status} ({each.kind})" for each in asked if each.is_failed or each.is_refused)


def _longest_wait(drill: Drill) -> tuple[float, str]:
    """Return the longest wait without anything new, except while the database was stopped, and for what."""
    waits = [(gap, "a message") for said in drill.load.said for gap in said.waits(drill.ended)]
    people = drill.load.people
    waits += [(gap, "a socket") for person in people for gap in person.without_socket(drill.ended)]
    waits += [((one.began, one.began + one.seconds), one.kind) for one in drill.load.site.asked]
    stopped = [one for one in drill.disruptions if one.part.kind == "postgres"]
    return max(((_seconds_of(gap, stopped), what) for gap, what in waits), default=(0.0, "nothing"))


def _seconds_of(gap: tuple[float, float], excepted: Sequence[Disruption]) -> float:
    """Return the length of a gap without the time of some disruptions."""
    began, ended = gap
    common = sum(max(0.0, min(ended, one.ended) - max(began, one.began)) for one in excepted)
    return ended - began - common


def _share_of_cores(drill: Drill) -> float:
    first, last = _samples_between(drill.meter.samples, *drill.calm)
    used = sum(value for name, value in cpu_between(first, last).items() if name != LOAD)
    return used / (last.at - first.at) / CORES


def _samples_between(samples: Sequence[Sample], began: float, ended: float) -> tuple[Sample, Sample]:
    within = [sample for sample in samples if began <= sample.at <= ended]
    return within[0], within[-1]


def _most_connections(drill: Drill) -> int:
    return max((counts.connections for counts in drill.meter.counts), default=0)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "none"


# --- tables -------------------------------------------------------------------------------------------


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _table_of_figures(found: Sequence[Figure]) -> str:
    words = {None: "", True: "yes", False: "**no**"}
    rows = [[one.name, one.measured, one.limit, words[one.is_met]] for one in found]
    return _table(["figure", "measured", "limit", "met"], rows)


def _table_of_cpu(drill: Drill) -> str:
    first, last = _samples_between(drill.meter.samples, *drill.calm)
    seconds = last.at - first.at
    used = cpu_between(first, last)
    turns = max(1, len(_said_between(drill, first.at, last.at)))
    kinds: Counter[str] = Counter()
    for name, value in used.items():
        kinds[name.partition("-")[0]] += value  # type: ignore[assignment]  # seconds
    rows = [
        [kind, f"{value / seconds:.1%}", f"{1000 * value / turns:.0f}"]
        for kind, value in sorted(kinds.items(), key=lambda item: -item[1])
    ]
    return _table(["part, all of its kind, calm", "of one core", "ms for each message"], rows)


def _table_of_disruptions(drill: Drill) -> str:
    head = ["what", "served after s", "messages meanwhile", "first word p50 / p95 / most s"]
    head += ["accepted after, most s", "refusals shown", "requests refused, failed / slowest s"]
    return _table(head, [list(_row_of(drill, one)) for one in drill.disruptions])


def _row_of(drill: Drill, one: Disruption) -> Iterator[str]:
    said, asked = _said_during(drill, one), _asked_during(drill, one)
    firsts = [value for each in said if (value := _first_word(each)) is not None]
    accepted = [value for each in said if (value := _accepted_after(each)) is not None]
    yield one.name
    yield f"{one.served - one.began:.1f}"
    yield str(len(said))
    yield " / ".join(f"{percentile(firsts, share):.1f}" for share in (0.5, 0.95, 1.0))
    yield f"{max(accepted, default=0.0):.1f}"
    yield str(sum(each.refusals for each in said))
    refused = sum(each.is_refused for each in asked)
    failed = Counter(str(each.status) for each in asked if each.is_failed)
    slowest = max((each.seconds for each in asked), default=0.0)
    yield f"{refused} of {len(asked)}, {_counted(failed)} / {slowest:.1f}"


# --- the soak -----------------------------------------------------------------------------------------


def _soak_figures(drill: Drill) -> list[Figure]:
    if drill.soak is None:
        return []
    first, last = _ends_of_soak(drill.meter.counts, drill.soak)
    said = _said_between(drill, first[0].at, last[-1].at)
    parts = sorted(name for name in first[0].memory if name.startswith(OF_SAGE))
    grown = {part: _memory_of(last, part) / max(1.0, _memory_of(first, part)) for part in parts}
    most = max(grown, key=lambda part: grown[part])
    connections = [sum(each.connections for each in some) / len(some) for some in (first, last)]
    jobs = [max(sum(each.jobs.get(name, 0) for name in WAITING) for each in some) for some in (first, last)]
    return [
        *_figures_of(drill, "soak", drill.soak),
        Figure(
            name=f"soak: memory at the end, of that at the start: {most}, which has grown most",
            measured=f"{grown[most]:.1%}",
            limit="≤ 105 %",
            is_met=grown[most] <= MOST_MEMORY,
        ),
        Figure(
            name="soak: connections at the start and the end",
            measured=f"{connections[0]:.0f}, {connections[1]:.0f}",
        ),
        Figure(
            name="soak: kB of the database for each message",
            measured=f"{1024 * (last[-1].database - first[0].database) / max(1, len(said)):.0f}",
        ),
        Figure(
            name="soak: most jobs that aren't done at the start and the end", measured=f"{jobs[0]}, {jobs[1]}"
        ),
    ]


def _ends_of_soak(counts: Sequence[Counts], soak: tuple[float, float]) -> tuple[list[Counts], list[Counts]]:
    """Return the counts of a soak's first and last fifth."""
    began, ended = soak
    fifth = (ended - began) / 5
    first = [each for each in counts if began <= each.at < began + fifth]
    return first, [each for each in counts if ended - fifth <= each.at < ended]


def _memory_of(counts: Sequence[Counts], kind: str) -> float:
    """Return the mean memory of all parts of a kind together, in MB."""
    sums = [sum(value for name, value in each.memory.items() if name.startswith(kind)) for each in counts]
    return sum(sums) / max(1, len(sums))


def _table_of_memory(drill: Drill) -> str:
    assert drill.soak is not None
    first, last = _ends_of_soak(drill.meter.counts, drill.soak)
    kinds = sorted({name.partition("-")[0] for each in first for name in each.memory})
    rows = [[kind, *(f"{_memory_of(some, kind):.0f}" for some in (first, last))] for kind in kinds]
    return _table(["part, all of its kind", "MB at the soak's start", "at its end"], rows)


def _table_of_rows(rows: tuple[Mapping[str, int], Mapping[str, int]]) -> str:
    before, after = rows
    grown = {name: after[name] - before.get(name, 0) for name in after}
    turns = max(1, grown.get("sessions_app_turn", 1))
    lines = [
        [name, str(before.get(name, 0)), str(after[name]), f"{grown[name] / turns:.2f}"]
        for name in sorted(grown, key=lambda name: -grown[name])
        if grown[name]
    ]
    return _table(["table", "rows before", "after", "for each turn"], lines)
