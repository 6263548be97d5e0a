# SPDX-License-Identifier: BSD-3-Clause
"""How many of a real run's starts a rule makes: at the right time, on the right nodes, by the right scheduler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from swftools.kernel import BoolArray, FloatArray
from swftools.machines.node_table import NodeTable
from swftools.referee.followed import NOT_TOLD, Followed
from swftools.referee.forced import Decisions, ForcedRun
from swftools.simulator.slurm.state import BACKFILL, MAIN
from swftools.trace import Trace

SCHEDULERS = {MAIN: "main", BACKFILL: "backfill", NOT_TOLD: ""}
"""Names of who starts jobs."""


@dataclass(frozen=True)
class Judged:
    """How each start of a real run fares, a row a job of the trace.

    Parameters
    ----------
    is_start : numpy.ndarray of bool, shape (rows,)
        Starts that were tried: only these count.
    has_waited : numpy.ndarray of bool, shape (rows,)
        Those that came more than the tolerance after the job could start.
    is_early : numpy.ndarray of bool, shape (rows,)
        The rule would have made them more than the tolerance earlier.
    is_right : numpy.ndarray of bool, shape (rows,)
        Not early, and made by the rule within the tolerance before the real start, or with it.
    on_its_nodes : numpy.ndarray of bool, shape (rows,)
        On just the nodes of the real run, when it was tried last.
    """

    is_start: BoolArray
    has_waited: BoolArray
    is_early: BoolArray
    is_right: BoolArray
    on_its_nodes: BoolArray

    @property
    def is_late(self) -> BoolArray:
        """Starts that the rule had not made when the real run did."""
        return self.is_start & ~self.is_early & ~self.is_right


def judge(followed: Followed, decisions: Decisions, tolerance: float) -> Judged:
    """Return how the starts of a real run fare.

    Parameters
    ----------
    followed : Followed
        The run.
    decisions : Decisions
        What the rule would have done.
    tolerance : float
        s; a start is right that differs by no more.
    """
    logged, start = followed.logged, followed.logged.start
    tried = decisions.was_tried
    early = tried & (decisions.time < start - tolerance)
    right = tried & ~early & (decisions.last >= start - tolerance)
    alike = np.zeros(len(start), bool)
    for row in np.flatnonzero(tried).tolist():
        real = logged.node[logged.first[row] : logged.first[row + 1]]
        alike[row] = np.array_equal(np.sort(real), decisions.nodes[row])
    return Judged(tried, tried & (start - followed.eligible_time > tolerance), early, right, alike)


def figures_of(judged: Judged, followed: Followed, decisions: Decisions) -> dict[str, float]:
    """Return the figures of a run.

    Returns
    -------
    dict of str to float
        ``starts``, and ``waited`` of them; the shares ``right``, ``waited_right``; of right ones ``on_nodes``,
        ``waited_on_nodes`` and ``by_scheduler`` (NaN where the log does not tell schedulers); the numbers ``early``
        and ``late``.
    """
    starts, waited, right = judged.is_start, judged.has_waited, judged.is_right
    is_told = right & (followed.logged.by != NOT_TOLD)
    return {
        "starts": int(starts.sum()),
        "waited": int(waited.sum()),
        "right": _share(right, starts),
        "waited_right": _share(right, waited),
        "on_nodes": _share(judged.on_its_nodes, right),
        "waited_on_nodes": _share(judged.on_its_nodes, right & waited),
        "by_scheduler": _share(decisions.by == followed.logged.by, is_told),
        "early": int(judged.is_early.sum()),
        "late": int(judged.is_late.sum()),
    }


def _share(mask: BoolArray, among: BoolArray) -> float:
    return float((mask & among).sum() / among.sum()) if among.any() else float("nan")


def by_scheduler(judged: Judged, followed: Followed) -> pd.DataFrame:
    """Return the same by who made the starts in the real run: ``scheduler``, ``starts``, ``right``, ``on_nodes``."""
    rows = []
    for number, name in SCHEDULERS.items():
        own = judged.is_start & (followed.logged.by == number)
        if own.any():
            shares = _share(judged.is_right, own), _share(judged.on_its_nodes, own & judged.is_right)
            rows.append((name or "not told", int(own.sum()), *shares))
    return pd.DataFrame(rows, columns=["scheduler", "starts", "right", "on_nodes"])


def priorities_alike(decisions: Decisions, logged: FloatArray) -> float:
    """Return the share of starts whose priority is that of the log, within 1; NaN where the log has none."""
    told = decisions.was_tried & np.isfinite(logged)
    return _share(np.abs(decisions.priority - logged) <= 1.0, told)


def first_differences(
    trace: Trace, table: NodeTable, followed: Followed, judged: Judged, decisions: Decisions, run: ForcedRun, many: int
) -> pd.DataFrame:
    """Return the first starts that the rule makes otherwise, with the state in which it decides.

    Parameters
    ----------
    run : ForcedRun
        One that has not begun; it goes on to these starts, one after the other.
    many : int
        How many at most.

    Returns
    -------
    pandas.DataFrame
        ``job``, ``eligible``, ``start`` and ``rule`` (s; NaN: not by then), ``what`` (early, late, nodes), ``nodes``
        and ``rule_nodes``, ``asks``; and of the real state at the start, before it: ``free_nodes`` (how many are
        idle), ``free_cores``, ``before`` (the jobs that stood before it in the queue, the first five).
    """
    start, logged = followed.logged.start, followed.logged
    others = judged.is_start & (judged.is_early | judged.is_late | ~judged.on_its_nodes)
    rows = np.flatnonzero(others)
    rows = rows[np.argsort(start[rows], kind="stable")][:many]
    jobs, found = trace.jobs, []
    name = "log_id" if "log_id" in jobs else "job_number"
    for row in rows.tolist():
        run.run(until=np.nextafter(start[row], -np.inf))
        given, state = run.memory
        place = {int(each): job for job, each in enumerate(run.row)}[row]
        before, idle = run.standing_before(place), state.now.jobs == 0
        what = "early" if judged.is_early[row] else "late" if judged.is_late[row] else "nodes"
        found.append(
            {
                "job": str(jobs[name].iloc[row]),
                "eligible": followed.eligible_time[row],
                "start": start[row],
                "rule": decisions.time[row],
                "what": what,
                "nodes": _names(table, logged.node[logged.first[row] : logged.first[row + 1]]),
                "rule_nodes": _names(table, decisions.nodes[row]),
                "asks": _asks(given, place),
                "free_nodes": int(idle.sum()),
                "free_cores": int(state.now.cores.sum()),
                "before": ", ".join(str(jobs[name].iloc[run.row[job]]) for job in before[:5]),
            }
        )
    return pd.DataFrame(found)


def _names(table: NodeTable, nodes: object) -> str:
    from swftools.machines.hostlist import fold_hosts  # noqa: PLC0415

    return fold_hosts([table.names[node] for node in np.sort(np.asarray(nodes, np.int64)).tolist()])


def _asks(given: object, job: int) -> str:
    cpus, least, most = (int(getattr(given, name)[job]) for name in ("cpus", "min_nodes", "max_nodes"))
    nodes = f"{least}-{most}" if most > least else f"{least}" if most else f"{least}+"
    return f"{cpus} CPUs on {nodes} nodes"
