"""The floors of the house: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FLOORS = [
    {"swftools._version", "swftools.errors", "swftools.fields.definition"},
    {"swftools.fields.schedules"},
    {"swftools.fields.augmentations"},
    {"swftools.fields.dictionary", "swftools.formats.members", "swftools.keyed_random", "swftools.parameters"},
    {
        "swftools.formats.compression",
        "swftools.cleaning.decisions",
        "swftools.header",
        "swftools.tables",
        "swftools.utility.functions",
        "swftools.fields.generate",
        "swftools.formats.swf.kernel",
    },
    {"swftools.trace", "swftools.utility.tuples"},
    {"swftools.offered_work", "swftools.models.daily_cycle", "swftools.models.speedup"},
    {
        "swftools.formats.swf.block",
        "swftools.cleaning.apply",
        "swftools.cleaning.flurries",
        "swftools.description",
        "swftools.checkpoints.survey",
        "swftools.utility.model",
        "swftools.models.moldability",
        "swftools.models.cirne_berman",
        "swftools.models.lublin_feitelson_types",
        "swftools.models.requested_time_distribution",
    },
    {
        "swftools.formats.swf.reader",
        "swftools.cleaning.rules",
        "swftools.formats.parquet",
        "swftools.checkpoints.inference",
        "swftools.checkpoints.synthetic_survey",
        "swftools.models.lublin_feitelson_arrivals",
        "swftools.models.requested_times",
    },
    {"swftools.models.arrivals", "swftools.models.lublin_feitelson"},
    {"swftools.formats.trace_directory", "swftools.selection"},
    {
        *("swftools.simulator.event_queue", "swftools.simulator.waiting_queue", "swftools.simulator.profile"),
        *("swftools.simulator.predictions", "swftools.simulator.schedule", "swftools.simulator.policies.job_orders"),
        *(
            "swftools.simulator.metrics.parameters",
            "swftools.simulator.metrics.job_classes",
            "swftools.simulator.validation.reservations",
        ),
    },
    {
        *("swftools.simulator.interface", "swftools.simulator.metrics.of_jobs"),
        *("swftools.simulator.validation.promises", "swftools.simulator.validation.foreign_schedules"),
    },
    {
        *("swftools.simulator.engine", "swftools.simulator.workload", "swftools.simulator.policies.ordered_easy"),
        *("swftools.simulator.metrics.over_time", "swftools.simulator.validation.rules"),
    },
    {"swftools.simulator.registry", "swftools.simulator.metrics.measures", "swftools.simulator.validation.report"},
    {
        *("swftools.simulator.policies.conservative", "swftools.simulator.policies.easy"),
        *("swftools.simulator.policies.priority_easy", "swftools.simulator.policies.strict"),
    },
    {"swftools.simulator.policies", "swftools.simulator.simulation"},
    {"swftools.simulator"},
    {"swftools"},
    {"pipelines.names", "pipelines.catalog.strict_yaml", "pipelines.keys", "pipelines.logs.part_file"},
    {"pipelines.catalog.cards", "pipelines.logs.generated"},
    {
        "pipelines.catalog.reader",
        "pipelines.config",
        "pipelines.store.storage",
        "pipelines.store.manifest",
        "pipelines.logs.download",
    },
    {"pipelines.store.intake_catalog", "pipelines.logs.find"},
    {"pipelines.store.data_root"},
    {"pipelines.tasks.targets"},
    {"pipelines.tasks.acquire"},
    {"pipelines.tasks.traces"},
    {"pipelines.tasks.augmentations.registry"},
    {"pipelines.tasks.augmentations.all"},
    {"pipelines.tasks.build"},
    {"pipelines.tasks.simulation"},
    {"pipelines"},
    {"pipelines.cli.running"},
    {"pipelines.cli.schedules"},
    {"pipelines.cli.main"},
]
"""A module imports only from floors above it in this list (a lower number)."""

FLOOR = {module: number for number, floor in enumerate(FLOORS) for module in floor}


def modules() -> dict[str, Path]:
    """Return every module of both packages that holds code, by name."""
    found = {}
    for package in ("swftools", "pipelines"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if name != "swftools.models":  # imports its models by name
                found[name] = path
    return found


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever in the file it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_every_module_has_a_floor() -> None:
    """A new module must be given its place in the house."""
    assert set(modules()) == set(FLOOR)


@pytest.mark.parametrize(("name", "path"), modules().items(), ids=modules())
def test_imports_point_down(name: str, path: Path) -> None:
    """A module imports only from floors below its own."""
    ours = {module for module in imports(path) if module in FLOOR}
    assert [module for module in sorted(ours) if FLOOR[module] >= FLOOR[name]] == []


def test_swftools_knows_neither_luigi_nor_pipelines() -> None:
    """The toolkit stands without the pipeline."""
    tops = {(name, module.split(".")[0]) for name, path in modules().items() for module in imports(path)}
    assert [pair for pair in sorted(tops) if pair[0].startswith("swftools") and pair[1] in {"luigi", "pipelines"}] == []
