# SPDX-License-Identifier: BSD-3-Clause
"""SCOJO-P: a job gets its width when it starts, by the load that is expected while it runs.

``scojo-p``
    The waiting jobs are in the order of ``fixed``. For each first job, until one has to wait:

    1. Its target size is the one at which the load over its run time is nearest to ``ideal_load``. The load counts the
       job, running jobs on their widths, and the waiting jobs and those expected to come, all resized by the same
       factor.
    2. If that many processors are free, the job starts on them. If fewer are, it either starts now on those or waits
       for more, up to its target: whatever ends it earlier. If it waits, the width that it waits for is guaranteed: it
       never starts on fewer processors.
    3. Once a job waits, others go ahead as in EASY. Those that would be done before it starts are resized by one factor
       that makes their work fill the processors that are free until then.

    With ``resize=true`` running jobs change their widths as well, before the first step and after the last.

    No job leaves the bounds of its curve. Jobs without a curve are rigid. If all are, each starts when it does under
    ``fixed``.

Guarantee
    That of ``fixed``, for the width that the first job waits for. The job may start earlier on fewer processors than
    its target, but never on fewer than it was ever guaranteed.
Cost of a decision
    Nothing while no processor is free. Else O(n + r), for n waiting and r running jobs, for each size that is tried.
    Few sizes are tried: for each job that starts, and for the first that has to wait.

References
----------
Barsanti and Sodan 2006, "Adaptive job scheduling via predictive job resource allocation", figures 1 to 4.

Differs from the paper
----------------------
The factor of figure 4 is printed upside down: here it is the processor time that is there over the processor time that
is wanted. Two of its conditions are printed with < where <= stands here: a job that would take all free processors, or
would end when the first one starts, counts as one that fits before it; and a job that lasts longer goes ahead if it
takes no more processors than are left over then, while the paper has it take fewer than are free now, less the optimal
width of the first. The future work of figure 1 takes the run time on the mean size, where "the run time on the mean run
time" is printed. The best load is noted before the loop ends, because the size stays what it was. A width that a job
waits for is taken from all processors that are free at one instant, not job by job as they end. Sizes are rounded to
the nearest whole number. What is expected to come is by default learned while the simulation goes on, from the jobs
submitted so far and what is predicted of them; the paper takes it from other runs of its workload model, as
``profiles=model`` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.parameters import choice, number, truth, whole
from swftools.simulator.instants import instant, time_until
from swftools.simulator.machine.state import CAPACITY, FREE, NOW, RUNNING, SUBMITTED, WAITING, Machine
from swftools.simulator.machine.verbs import start_on
from swftools.simulator.memory_transfer import check_sound
from swftools.simulator.policies.class_line import (
    SEEN,
    ClassParameters,
    Line,
    empty_line,
    line_up,
    resized,
    restore_line,
    time_on,
)
from swftools.simulator.policies.expected_arrivals import (
    PAST,
    PROFILES,
    Arrivals,
    learn,
    model_arrivals,
    no_arrivals,
)
from swftools.simulator.policies.malleable import common_factor, shrink_running, widen_running
from swftools.simulator.policies.target_size import target_size
from swftools.simulator.registry import policy

CURVES = ("speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors")
"""The columns of jobs without which all of them would be rigid."""


_BACKFILLING = ("shrink", "resize", "none")
_SHRINK, _RESIZE, _NONE = range(3)


@dataclass(frozen=True)
class ScojoParameters(ClassParameters):
    """Parameters of ``scojo-p``, beside those of classes.

    Parameters
    ----------
    target : {"load", "optimum"}
        How the target size is chosen: by the expected load, or always as the optimal width.
    ideal_load : float
        The load to aim at: share of the machine's processors over the run time of a job.
    delta : float
        How far from `ideal_load` a load may be.
    bad_modifiers : int
        The search for a target size ends after this many factors in a row without a better one.
    prediction : bool
        Whether jobs that are expected to come count too.
    profiles : {"past", "model"}
        Which jobs are expected: as many as came so far, or as many as the model of Lublin and Feitelson sends in the
        long run.
    alpha : float
        The alpha of that model; lower means more load. Its jobs have simple curves, and its second 0 is midnight.
    early_start : bool
        Whether a job may start on fewer processors than its target.
    guarantee : bool
        Whether a width that a job waited for is its least width from then on.
    adaptive_backfilling : {"shrink", "resize", "none"}
        Jobs that go ahead are made narrower if they are too many for what is free until then; also wider if they are
        too few; or have their optimal widths.
    resize : bool
        Running jobs that have a curve are malleable, too: they are made narrower while more wait than fit, and wider
        while nobody does (``swftools.simulator.policies.malleable``).
    resize_every : float
        How long such a job keeps a width at least, s.
    """

    target: str = choice("load", "optimum")
    ideal_load: float = number(0.9, above=0)
    delta: float = number(0.02, least=0)
    bad_modifiers: int = whole(3, least=1)
    prediction: bool = truth(True)
    profiles: str = choice(*PROFILES)
    alpha: float = number(10.23, above=0)
    early_start: bool = truth(True)
    guarantee: bool = truth(True)
    adaptive_backfilling: str = choice(*_BACKFILLING)
    resize: bool = truth(False)
    resize_every: float = number(3600.0, least=0, unit="s")


class ScojoMemory(NamedTuple):
    """The waiting jobs, what is expected to come, and the least width that each job was guaranteed, or 0.

    ``changing`` is room for the running jobs that may be resized.
    """

    line: Line
    arrivals: Arrivals
    guaranteed: IntArray
    changing: IntArray


def scojo_memory(jobs: int, processors: int, parameters: ScojoParameters) -> ScojoMemory:
    """Return the memory before the first job."""
    arrivals = no_arrivals(jobs)
    if parameters.profiles != PROFILES[PAST]:
        known = model_arrivals(processors, parameters.alpha, parameters.short, parameters.long)
        arrivals = Arrivals._make(column.copy() for column in known)
    changing = np.zeros(processors if parameters.resize else 0, np.int64)
    return ScojoMemory(empty_line(jobs, processors), arrivals, np.zeros(jobs, np.int64), changing)


def restore_scojo(old: ScojoMemory, new: ScojoMemory, machine: Machine) -> None:
    """Take out of a saved state who stands in line, what is expected to come, and what was guaranteed."""
    restore_line(old.line, new.line, machine)
    submitted, learned = int(machine.counts[SUBMITTED]), int(old.arrivals.learned[0])
    check_sound(0 <= learned <= old.line.counts[SEEN], "more jobs were learned from than there were")
    for ours, theirs in zip(old.arrivals, new.arrivals, strict=True):
        check_sound((ours >= 0).all() or np.isnan(ours).any(), "expected arrivals below 0")
        theirs[:] = ours
    check_sound((old.arrivals.days != 0).all(), "jobs that were learned from in no time")
    is_past = np.isnan(old.arrivals.days).all()
    check_sound(not is_past or old.arrivals.curves.sum() <= learned, "curves of more jobs than were learned from")
    guaranteed = old.guaranteed[:submitted]
    check_sound((guaranteed >= 0).all() and (guaranteed <= machine.counts[CAPACITY]).all(), "a width that is none")
    new.guaranteed[:submitted] = guaranteed


@policy(
    "scojo-p",
    when="If jobs are moldable, and the machine chooses widths by the load that it expects.",
    parameters=ScojoParameters,
    memory=scojo_memory,
    restore=restore_scojo,
    needs=CURVES,
    allocates=False,
    version=2,
)
def scojo_p(machine: Machine, parameters: Any, memory: ScojoMemory) -> None:
    """Choose widths by the expected load; other jobs go ahead, resized to fill the free processors."""
    line = memory.line
    count = line_up(machine, line, parameters)
    if parameters.profiles == PAST:
        learn(machine, line, memory.arrivals)
    factor = common_factor(machine, line, count) if parameters.resize else 1.0
    if factor < 1.0 and count > 0:
        shrink_running(machine, line, parameters, memory.changing, factor)
    _start_waiting(machine, parameters, memory, count)
    if parameters.resize and factor >= 1.0 and machine.counts[WAITING] == 0:
        widen_running(machine, line, parameters, memory.changing, factor)


@kernel(allocates=False)
def _start_waiting(machine: Machine, parameters: Any, memory: ScojoMemory, count: int) -> None:
    """Start those of the first ``count`` jobs of the order that are to start now, on the widths that they are given."""
    line, guaranteed = memory.line, memory.guaranteed
    for place in range(count):
        if machine.counts[FREE] == 0:
            return
        job = line.order[place]
        target = line.optimum[job]
        if parameters.target == 0:
            target = target_size(machine, line, memory.arrivals, parameters, place, count - place - 1)
        target = max(target, guaranteed[job])
        if target <= machine.counts[FREE]:
            start_on(machine, job, target)
            continue
        least = max(line.least[job], guaranteed[job]) if parameters.early_start else target
        when, size, extra = best_start(machine, job, least, target)
        if size == 0:
            start_on(machine, job, machine.counts[FREE])
            continue
        if parameters.guarantee:
            guaranteed[job] = size
        _backfill(machine, memory, parameters.adaptive_backfilling, place + 1, count, when, extra)
        return


@kernel(allocates=False)
def best_start(machine: Machine, job: int, least: int, target: int) -> tuple[float, int, int]:
    """Return when a job is to start that does not fit on its target size, on how many processors, how many are left.

    It ends earliest so, if running jobs end as expected. On 0 processors: it is to start now, on all that are free.
    """
    counts, now = machine.counts, machine.clock[NOW]
    available, best = counts[FREE], np.inf
    when, size, extra = now, 0, 0
    if available >= least:
        best = instant(now + time_on(machine, job, available))
    for i in range(counts[RUNNING]):
        other = machine.running[i]
        available += machine.allocated[other]
        time = max(machine.expected_end[other], now)
        if i + 1 < counts[RUNNING] and machine.expected_end[machine.running[i + 1]] <= time:
            continue  # who ends at this instant ends together
        wanted = min(target, available)
        end = instant(time + time_on(machine, job, wanted)) if wanted >= least else np.inf
        if end < best:
            best = end
            when, size, extra = time, wanted, available - wanted
        if available >= target:
            break
    return when, size, extra


@kernel(allocates=False)
def _backfill(machine: Machine, memory: ScojoMemory, how: int, first: int, count: int, when: float, extra: int) -> None:
    """Start those of the waiting jobs, from a place of the order on, that do not delay who is to start at a time."""
    line, counts = memory.line, machine.counts
    time, window = when - machine.clock[NOW], time_until(machine.clock[NOW], when)
    factor = 1.0
    if how != _NONE:
        work = 0.0
        for i in range(first, count):
            job = line.order[i]
            if line.optimum[job] <= counts[FREE] and line.time[job] <= window:
                work += line.optimum[job] * line.time[job]
        if work > 0.0:
            factor = time * counts[FREE] / work
        if how == _SHRINK:
            factor = min(factor, 1.0)
    for i in range(first, count):
        job = line.order[i]
        size = max(resized(line, job, factor), memory.guaranteed[job])
        if size > counts[FREE]:
            continue
        run_time = time_on(machine, job, size)
        if run_time > window:
            if size > extra:
                continue
            extra -= size
        start_on(machine, job, size)
