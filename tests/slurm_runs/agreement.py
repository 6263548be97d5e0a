# SPDX-License-Identifier: BSD-3-Clause
"""How far policy ``slurm`` agrees with the kept runs: ``python -m tests.slurm_runs.agreement [RUN ...]``.

It prints the table of docs/slurm.md, as ``swftools referee`` finds the figures; with ``--free N`` also the policy left
to itself over N phases, beside the other runs of the same jobs, with ``--priorities`` by the priorities that were kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from swftools import read_log, read_machine
from swftools.machines.cores_told import with_cores
from swftools.machines.description import MachineDescription
from swftools.machines.node_table import NodeTable
from swftools.referee import Report, referee
from swftools.referee.priorities import read_priorities
from swftools.simulator.slurm.setting import SampledPriorities
from swftools.trace import Trace

HERE = Path(__file__).parent

FOUND_WITH = ("plain", "defaults1", "repeat1", "classic", "topology")
"""Runs that rules were found with; the others were only looked at for their figures."""

REPEATED = {"repeat1": ("repeat2", "repeat3"), "overloaded": ("overloaded2",)}
"""Runs of the same submissions."""

SPRIO = "JOBID|PARTITION|USER|PRIORITY"
"""The first columns of the kept samples."""

SHARES = ("right", "waited_right", "on_nodes", "waited_on_nodes", "priorities")


def all_runs() -> list[str]:
    """Return the names of the runs."""
    return sorted(path.parent.name for path in HERE.glob("*/sacct.txt.gz"))


def log_of(name: str) -> Trace:
    """Return a run's log, with all that stood in the queue, and what jobs had of each node."""
    log = read_log(HERE / name / "sacct.txt.gz", "slurm:time_zone=UTC,unended=kept")
    return with_cores(log, HERE / name / "cores.txt.gz")


def outages_of(name: str, begin: float) -> str:
    """Return when nodes were away or reserved, by what the driver did: a table as ``--outages`` takes it.

    ``begin`` is second 0 of the log, since 1970.
    """
    rows = ["nodes,begin,end,kind,known"]
    gone: dict[str, tuple[float, str]] = {}
    for at, told in _orders(name):
        if "reservation" in told:
            first = int(at) + float(told["starttime"].partition("+")[2])
            last = first + 60.0 * float(told["duration"])
            rows.append(f'"{told["nodes"]}",{_date(first)},{_date(last)},reservation,{math.ceil(at - begin)}s')
        for node in told.get("nodename", "").split(","):
            if told.get("state") in ("drain", "down"):
                gone[node] = math.ceil(at), told["state"]
            elif node in gone:
                since, kind = gone.pop(node)
                rows.append(f"{node},{_date(since)},{_date(math.ceil(at))},{kind},false")
    return "\n".join(rows) + "\n"


def _orders(name: str) -> Iterator[tuple[float, dict[str, str]]]:
    """Yield what an administrator did of nodes and reservations: when, and the words of the command."""
    for line in (HERE / name / "actions.jsonl").read_text().splitlines():
        action = json.loads(line)
        if action["ev"] == "admin":
            told = dict(word.partition("=")[::2] for word in action["cmd"] if "=" in word)
            if "nodename" in told or "reservation" in told:
                yield float(action["at"]), told


def _date(time: float) -> str:
    return datetime.fromtimestamp(int(time), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def machine_of(name: str, begin: float, scratch: Path) -> MachineDescription:
    """Return a run's machine, with its accounts, their usage before, and outages."""
    folder, path = HERE / name, scratch / "outages.csv"
    path.write_text(outages_of(name, begin))
    topology, usage = folder / "topology.conf", folder / "sshare_begin.txt"
    site = read_machine(folder / "slurm.conf").with_slurm(
        accounts=folder / "accounts.cfg",
        qos=folder / "qos.txt",
        usage=usage if usage.exists() else None,
        topology=topology if topology.exists() else None,
        version="22.05",
    )
    return site.with_outages(path)


def priorities_of(name: str, log: Trace, table: NodeTable, scratch: Path) -> SampledPriorities | None:
    """Return the priorities that were kept of a run, a sample each 20 s; None of a run of which there are none."""
    kept, path = HERE / name / "sprio.txt.gz", scratch / "priorities.txt"
    if not kept.exists():
        return None
    path.write_text(SPRIO + "\n" + gzip.decompress(kept.read_bytes()).decode())
    return read_priorities(path, log, table)


def held_against(
    name: str, scratch: Path, *, phases: int = 0, compiled: bool = True, with_priorities: bool = False
) -> Report:
    """Return what the referee finds of a run."""
    log = log_of(name)
    table = machine_of(name, float(log.header.unix_start_time or 0), scratch).simulated(log.header)
    also = [log_of(other) for other in REPEATED.get(name, ())] if phases else []
    kept = priorities_of(name, log, table, scratch) if with_priorities else None
    return referee(log, table, first=0, phases=phases, also=also, priorities=kept, compiled=compiled)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=all_runs())
    parser.add_argument("--free", type=int, default=0)
    parser.add_argument("--priorities", action="store_true", help="with those that were kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.runs:
            report = held_against(name, Path(folder), phases=given.free, with_priorities=given.priorities)
            figures = report.figures
            cells = [f"{100 * figures[share]:.1f} %" for share in SHARES]
            cells += [f"{figures['early']:.0f}", f"{figures['late']:.0f}"]
            used = "yes" if name in FOUND_WITH else ""
            _say("| " + " | ".join([name, used, f"{figures['starts']:.0f}", *cells]) + " |")
            for what, found in (("free", report.bands), ("repeats", report.repeats)):
                if len(found):
                    _say(f"{what}\n{found.round(2).to_string(index=False)}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
