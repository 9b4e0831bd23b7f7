"""What this process counts for Prometheus. No label has a value that somebody wrote."""

from prometheus_client import Counter, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types

TURNS = Counter(
    "sage_turns", "Turns that this process has run, by how they ended or that they wait.", ["outcome"]
)
FIRST_TOKEN_SECONDS = Histogram(
    "sage_first_token_seconds",
    "From a turn's request to the first token of its answer.",
    buckets=(0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30),
)
TOOL_SECONDS = Histogram(
    "sage_tool_seconds",
    "From the start of a tool call to its result.",
    ["tool"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
UPSTREAM_ERRORS = Counter(
    "sage_upstream_errors", "Failed requests to the model, retried ones included.", ["reason"]
)
JOB_RUNS = Counter(
    "sage_job_runs", "Background jobs that this process has run, by how they ended.", ["job", "outcome"]
)
SECOND_LOOKS = Counter(
    "sage_second_looks",
    "Second looks for danger, by their level, or given_up, failed, nonsense.",
    ["outcome"],
)
LOOP_FAILURES = Counter(
    "sage_loop_failures", "Failures of this process's endless loops, or of one item of them.", ["loop"]
)
