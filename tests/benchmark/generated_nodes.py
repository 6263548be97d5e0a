# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes and traces for them that a script generates from a log; read for ours, and run by plain C."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.kernel import IntArray
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from tests.benchmark.conftest import BLUE, measure

COLUMNS = ["id", "submit", "run", "request", "nodes", "cores", "memory", "gpus", "partition", "exclusive"]


class Generated(NamedTuple):
    """A machine and a trace, as ours and as files that plain C reads."""

    machine: NodeTable
    trace: Trace
    machine_file: Path
    trace_file: Path


class OfC(NamedTuple):
    """What plain C says of a run: jobs a second of CPU, and how many waited on average."""

    rate: float
    waiting: float


@dataclass
class Yardstick:
    """The generator and the program in C, and a folder for what they make."""

    shared: Path
    folder: Path
    made: dict[str, Generated] = field(default_factory=dict)

    def generate(self, change: Callable[[pd.DataFrame], object] | None = None, **options: float) -> Generated:
        """Return a machine and a trace by the options of the generator; each is made once.

        Parameters
        ----------
        change : callable, optional
            Changes the jobs, a row each with ``COLUMNS``, in place.
        **options : float
            ``nodes``, ``partitions``, ``jobs``, ``load`` and ``seed``.
        """
        words = [f"{key}{value}" for key, value in sorted(options.items())]
        name = "-".join([*words, change.__name__] if change else words) or "usual"
        if name not in self.made:
            path = self.folder / name
            script = self.shared / "spikes" / "nodes" / "generate.py"
            given = [word for key, value in options.items() for word in (f"--{key}", str(value))]
            subprocess.run(
                [sys.executable, script, self.shared / "traces" / BLUE, path, *given], check=True, capture_output=True
            )
            files = path.with_name(f"{path.name}.m"), path.with_name(f"{path.name}.t")
            if change:
                jobs = read_jobs(files[1])
                change(jobs)
                jobs.to_csv(files[1], sep=" ", header=False, index=False)
            self.made[name] = Generated(read_machine(files[0]), read_trace(*files), *files)
        return self.made[name]

    def run_c(self, generated: Generated, mode: str, *, sparing: bool) -> OfC:
        """Return the best of three runs of plain C: ``easy`` looks at every node, ``quick`` does as ours does."""
        program = self.folder / "limit_nodes"
        if not program.exists():
            compiler = shutil.which("gcc") or shutil.which("cc")
            assert compiler, "the comparison needs a C compiler"
            source = self.shared / "limit" / "limit_nodes.c"
            subprocess.run([compiler, "-w", "-O3", "-march=native", "-o", program, source], check=True)
        command = (str(program), str(generated.machine_file), str(generated.trace_file), mode, "-s", str(int(sparing)))
        said = [measure(*command).output for _ in range(3)]
        found = [re.search(r" (\d+) jobs/s .* waiting mean ([\d.]+)", text) for text in said]
        return OfC(*max((float(match[1]), float(match[2])) for match in found if match))


def read_machine(path: Path) -> NodeTable:
    """Read a machine; its partitions are called by their numbers."""
    kinds: list[list[str]] = []
    parts: list[IntArray] = []
    for line in path.read_text().splitlines():
        word, *words = line.split()
        if word == "kind":
            kinds.append(words)
        else:
            ends = (map(int, text.split("-")) for text in words[3].split(","))
            parts.append(np.concatenate([np.arange(first, last + 1) for first, last in ends]))
    cores, memory, gpus = (np.array([int(words[column]) for words in kinds]) for column in (2, 3, 4))
    kind = np.repeat(np.arange(len(kinds)), [int(words[1]) for words in kinds])
    return NodeTable(
        names=tuple(f"n{node}" for node in range(len(kind))),
        kind=kind,
        kinds=tuple(words[0] for words in kinds),
        cores=cores[kind],
        memory=memory[kind],
        gpus=gpus[kind] * GPU,
        weight=np.ones(len(kind), np.int64),
        partitions=tuple(PartitionNodes(str(number), nodes) for number, nodes in enumerate(parts)),
    )


def read_jobs(path: Path) -> pd.DataFrame:
    """Read the jobs of a trace, a row each."""
    return pd.read_csv(path, sep=" ", comment="#", header=None, names=COLUMNS)


def read_trace(machine: Path, jobs: Path) -> Trace:
    """Read a trace as ours."""
    table, rows = read_machine(machine), read_jobs(jobs)
    trace = Trace.from_columns(
        machine_processors=table.processors,
        job_number=rows["id"],
        submit_time=rows["submit"],
        run_time=rows["run"],
        requested_time=rows["request"],
        requested_processors=rows["nodes"] * rows["cores"],
        partition_id=rows["partition"],
    )
    asked = {
        "requested_nodes": rows["nodes"],
        "requested_cores_per_node": rows["cores"].astype(float),
        "requested_memory_per_node": rows["memory"].astype(float),
        "requested_gpus_per_node": rows["gpus"].astype(float),
        "is_exclusive": rows["exclusive"] > 0,
    }
    return trace.with_jobs(trace.jobs.assign(**asked))
