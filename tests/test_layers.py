# SPDX-License-Identifier: BSD-3-Clause
"""The floors of the house: who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.folders import ROOT

ROOMS = [
    *("swftools._version", "swftools.deprecation", "swftools.errors", "swftools.output", "swftools.kernel"),
    "swftools.keyed_random",
    *("swftools.parameters", "swftools.fields"),
    *(
        "swftools.by_job",
        "swftools.header",
        "swftools.named",
        "swftools.tables",
        "swftools.trace_in_brief",
        "swftools.trace",
        "swftools.utility",
    ),
    "swftools.dependencies",
    "swftools.formats",
    *("swftools.offered_work", "swftools.description", "swftools.cleaning", "swftools.estimates"),
    *("swftools.drift", "swftools.checkpoints"),
    "swftools.job_scripts",
    *(
        "swftools.models",
        "swftools.selection",
        "swftools.machines",
        "swftools.simulator",
        "swftools.referee",
        "swftools.waits",
        "swftools.energy",
        "swftools.market",
    ),
    "swftools.qbets",
    *("swftools.learning", "swftools.reservations", "swftools.history"),
    *("swftools.live", "swftools.client"),
    *("swftools.plots", "swftools.kernel_warm_up", "swftools", "swftools.__main__"),
    *("pipelines.names", "pipelines.keys", "pipelines.exit_statuses", "pipelines.catalog", "pipelines.config"),
    "pipelines.store",
    *(
        "pipelines.logs",
        "pipelines.papers",
        "pipelines.experiments",
        "pipelines.reports",
        "pipelines.tasks",
        "pipelines.history",
    ),
    "pipelines.service",
    *("pipelines", "pipelines.cli"),
]
"""A room is a folder with all that is in it, or a file beside the folders; it imports only from rooms before it."""


def modules() -> dict[str, Path]:
    """Return every module of both packages, by name."""
    found = {}
    for package in ("swftools", "pipelines"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, wherever in the file and by whatever means it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in named)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            if isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
            elif isinstance(node.args[0], ast.JoinedStr):
                yield from _named_by(path, node.args[0])


def _named_by(path: Path, name: ast.JoinedStr) -> Iterator[str]:
    """Yield the modules that ``f"{__name__}.{name}"`` may mean: all beside the file."""
    if ast.unparse(name).startswith("f'{__name__}."):
        yield from (module for module, other in MODULES.items() if other.parent == path.parent and other != path)


def room_of(module: str) -> str:
    """Return the room that a module stands in."""
    return next(room for room in sorted(ROOMS, key=len, reverse=True) if f"{module}.".startswith(f"{room}."))


def test_every_room_is_in_the_list() -> None:
    """A new folder, or a file beside the folders, must be given its place in the house; none is listed in vain."""
    rooms = {".".join(module.split(".")[:2]) for module in MODULES}
    assert rooms == set(ROOMS)


@cache
def all_imports() -> dict[str, set[str]]:
    """Return what each module imports."""
    return {name: {*imports(path)} for name, path in MODULES.items()}


def test_imports_point_down() -> None:
    """A module imports only from its own room and the rooms below; the list has each import that does not."""
    floors = {name: ROOMS.index(room_of(name)) for name in MODULES}
    ours = [(name, module) for name, modules in all_imports().items() for module in sorted(modules & MODULES.keys())]
    assert [(name, module) for name, module in ours if floors[module] > floors[name]] == []


SIMULATOR = ["machine", "policy_abi", "registry", "predictors", "policies", "engine", "run", "simulation", "stepping"]
"""Rooms of the simulator from the ground up: what policies are compiled against, they themselves, what drives them."""


@pytest.mark.parametrize("depth", [2, 3, 4, 9], ids=["rooms", "rooms in rooms", "below these", "files"])
def test_no_circles(depth: int) -> None:
    """No chain of imports leads back to its beginning: of rooms, of rooms and files within a room, or of files."""
    below: dict[str, set[str]] = {}
    for name, modules in all_imports().items():
        room, *others = (".".join(module.split(".")[:depth]) for module in (name, *(modules & MODULES.keys())))
        below.setdefault(room, set()).update(other for other in others if other != room)
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_floors_of_the_simulator() -> None:
    """What policies are compiled against knows no registry, and what drives a run stands above both."""
    floors = [f"swftools.simulator.{room}" for room in SIMULATOR]
    of = {name: next((f for f in floors if f"{name}.".startswith(f"{f}.")), None) for name in MODULES}
    assert set(of.values()) == {None, *floors}
    up = [
        (name, module)
        for name, modules in all_imports().items()
        for module in sorted(modules & MODULES.keys())
        if (here := of[name]) and (there := of[module]) and floors.index(there) > floors.index(here)
    ]
    assert up == []


def test_swftools_knows_neither_luigi_nor_pipelines() -> None:
    """The toolkit stands without the pipeline."""
    tops = {(name, module.split(".")[0]) for name, modules in all_imports().items() for module in modules}
    assert [pair for pair in sorted(tops) if pair[0].startswith("swftools") and pair[1] in {"luigi", "pipelines"}] == []
