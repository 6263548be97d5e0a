# SPDX-License-Identifier: BSD-3-Clause
"""Rigid jobs by the model of Lublin and Feitelson: sizes, run times that depend on them, arrivals with a daily cycle.

``generate`` makes a whole Trace, which every later stage takes; ``arrival_times`` only the arrivals, of which
``arrivals.py`` makes submissions for the jobs of another trace. The draws of a type's n-th job are keyed by n: more
jobs, another load or another start hour leave its size and run time what they were.

References
----------
Lublin and Feitelson 2003, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
JPDC 63(11), and the authors' program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.header import SwfHeader
from swftools.kernel import kernel
from swftools.keyed_random import STATE_LENGTH, next_gamma, next_uniform, start_stream, step_key
from swftools.models.lublin_feitelson_arrivals import UnreachableError, arrival_times, types_meeting
from swftools.models.lublin_feitelson_types import (
    JOB_TYPES,
    MAX_RUN_TIME_LOG,
    MODES,
    JobType,
)
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, whole
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

QUEUES = {"interactive": 0, "batch": 1}
"""Queue of the jobs of a type; the jobs of type all have none."""


@dataclass(frozen=True)
class LublinFeitelsonParameters(Parameters):
    """Parameters of a workload.

    Parameters
    ----------
    jobs : int
        Number of jobs; none gives an empty trace.
    processors : int
        Size of the machine. Sizes of jobs scale with it (``JobType.on_machine``), and none is wider. On a machine of
        1 processor all jobs are serial.
    seed : int
        From 0 to 2**64 - 1.
    types : {"all", "batch", "interactive", "mix"}
        One parameter set for all jobs; batch jobs or interactive jobs alone; or both streams together.
    load : float, optional
        Offered load (``swftools.offered_load``) to reach, by solving for alpha; with ``mix``, for one factor on
        both alphas. Needs two jobs.
    alpha : float, optional
        ``aarr`` of the type, the model's own knob of the load: lower is heavier. Not with ``mix`` or ``load``.
    start_hour : int
        Hour of the day at second 0.
    overrides : mapping of str to mapping of str to float
        Other values of parameters by type, such as ``{"batch": {"u_med": 4.5}}``; sizes given here are not scaled to
        the machine.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "lublin-feitelson"

    jobs: int = whole(10_000, least=0, most=10**9)
    processors: int = whole(128, least=1, most=2**31 - 1)
    seed: int = whole(0, least=0, most=LARGEST_SEED)
    types: str = choice(*MODES)
    load: float | None = number(None, least=1e-9, most=1e9, optional=True)
    alpha: float | None = number(None, least=1e-6, most=1e6, optional=True)
    start_hour: int = whole(0, least=0, most=23)
    overrides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("load", self.load is None or self.jobs >= 2, "for fewer than two jobs: there is no time between")
        alone = self.load is None and len(MODES[self.types]) == 1
        self._require("alpha", self.alpha is None or alone, "for types=mix, nor beside load; give overrides")
        named = isinstance(self.overrides, Mapping) and all(
            name in MODES[self.types] and isinstance(values, Mapping) for name, values in self.overrides.items()
        )
        self._require("overrides", named, f"a mapping of {' or '.join(MODES[self.types])} to parameters")
        _ = self.job_types  # which are checked when they are made

    @property
    def job_types(self) -> dict[str, JobType]:
        """The parameter sets in use, scaled to this machine and with overrides applied."""
        chosen = {}
        for name in MODES[self.types]:
            values = dict(self.overrides.get(name, {}))
            if self.alpha is not None:
                values["aarr"] = self.alpha
            chosen[name] = JobType.from_mapping({**asdict(JOB_TYPES[name].on_machine(self.processors)), **values})
        return chosen

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> Self:
        """Make parameters from a mapping; ``batch.u_med=4`` is short for ``overrides.batch.u_med=4``.

        Raises
        ------
        ParameterError
            A name is unknown, a value is outside its domain, or a type is given in both forms.
        """
        values = dict(parameters)
        if types := {name: values.pop(name) for name in sorted(set().union(*MODES.values()) & set(values))}:
            overrides = values.get("overrides", {})
            if not isinstance(overrides, Mapping) or set(types) & set(overrides):
                raise ParameterError(f"{cls.NAME}: {', '.join(types)} is given twice, also by overrides={overrides!r}")
            values["overrides"] = {**overrides, **types}
        return super().from_mapping(values)

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds."""
        return {**super().to_mapping(), "overrides": {name: dict(values) for name, values in self.overrides.items()}}


def generate(jobs: int, *, processors: int = 128, seed: int = 0, **parameters: Any) -> Trace:
    """Generate a workload.

    Parameters
    ----------
    jobs, processors, seed, **parameters
        As in ``LublinFeitelsonParameters``.

    Returns
    -------
    Trace
        Jobs numbered from 1 by submission: submit_time, run_time (whole seconds), allocated_processors and
        requested_processors; with types=mix also queue_id, 0 interactive and 1 batch. All else is missing: the
        model knows no users and no requested times (``generate_requested_times`` does). Second 0 is ``start_hour`` of
        the first day. The provenance holds the parameters and the alphas, solved ones too.

    Raises
    ------
    ParameterError
        A parameter is outside its domain, no alpha reaches the load (then the range that can be reached is told), or
        the last job would come later than a log can say.

    Notes
    -----
    Times between arrivals are redrawn above e^13 s, run times above e^12 s. Run times are rounded down, as in the
    authors' program; a size is 2^x rounded, x uniform in two stages.

    **Differs from the authors' program**: it adds each time between arrivals to a clock in whole seconds, and so
    loses half a second a job against its daily cycle, which after 100,000 jobs is 14 hours off; here the clock is
    a float, and only what is returned is rounded. A size rounded to a power of two is at most the largest one on the
    machine, and no job is wider than the machine; there it could be.

    Examples
    --------
    >>> trace = generate(10_000, processors=128, seed=1, load=0.8)
    >>> from swftools.offered_work import offered_load
    >>> len(trace), round(offered_load(trace), 3)
    (10000, 0.8)
    """
    chosen = LublinFeitelsonParameters(jobs, processors, seed, **parameters)
    types = chosen.job_types
    if chosen.load is not None:
        types = _types_for_load(chosen, chosen.load)
    times, kinds = arrival_times(chosen.jobs, types, seed=seed, start=3600.0 * chosen.start_hour)
    if chosen.jobs and times[-1] > MAX_TIME:
        raise ParameterError(
            f"lublin-feitelson: the last of jobs={chosen.jobs} would come at {times[-1]:.3g} s, but a log ends at "
            f"{MAX_TIME:.3g} s; ask for fewer jobs or more load"
        )
    sizes, run_times = np.empty(chosen.jobs, np.int64), np.empty(chosen.jobs)
    queues = np.full(chosen.jobs, -1, np.int64)
    for kind, (name, job_type) in enumerate(types.items()):
        mine = kinds == kind
        sizes[mine], run_times[mine] = _sizes_and_run_times(int(mine.sum()), name, job_type, chosen)
        queues[mine] = QUEUES.get(name, -1)
    trace = Trace.from_columns(
        _header(chosen),
        machine_processors=chosen.processors,
        job_number=np.arange(1, chosen.jobs + 1),
        submit_time=np.rint(times),
        run_time=run_times,
        allocated_processors=sizes,
        requested_processors=sizes,
        queue_id=queues,
    )
    alphas = {name: job_type.aarr for name, job_type in types.items()}
    return replace(trace, provenance={"name": chosen.NAME, "parameters": chosen.to_mapping(), "alpha": alphas})


def _header(parameters: LublinFeitelsonParameters) -> SwfHeader:
    """Return a header that says what the workload is."""
    entries = {
        "Version": "2.2",
        "Computer": "none: the model of Lublin and Feitelson (JPDC 63(11), 2003)",
        "MaxJobs": str(parameters.jobs),
        "MaxProcs": str(parameters.processors),
        "Note": f"generated, {json.dumps(parameters.to_mapping())}; second 0 is {parameters.start_hour:02}:00",
    }
    header = SwfHeader()
    for label, text in entries.items():
        header = header.with_entry(label, text)
    for name, queue in QUEUES.items() if parameters.types == "mix" else ():
        header = header.with_entry("Queue", f"{queue} {name}")
    return header


def _types_for_load(parameters: LublinFeitelsonParameters, load: float) -> dict[str, JobType]:
    """Return types whose alphas meet the load."""
    count, types = parameters.jobs, parameters.job_types
    works = []  # of the first jobs of each type: of how many, alpha decides where types are mixed
    for name, job_type in types.items():
        sizes, run_times = _sizes_and_run_times(count, name, job_type, parameters)
        works.append(np.concatenate(([0.0], np.cumsum(sizes * run_times))))

    def inverse_load(times: FloatArray, kinds: npt.NDArray[np.int8]) -> float:
        work = sum(work[(kinds == kind).sum()] for kind, work in enumerate(works))
        return float(parameters.processors * (times[-1] - times[0]) / work)

    start = 3600.0 * parameters.start_hour
    try:
        return types_meeting(1 / load, inverse_load, count, types, seed=parameters.seed, start=start)
    except UnreachableError as error:
        raise ParameterError(
            f"lublin-feitelson: no alpha gives load={load!r} with these {count} jobs on {parameters.processors} "
            f"processors; it can be {1 / error.greatest:.3g} to {1 / error.least:.3g}"
        ) from error


class _Sizes(NamedTuple):
    """What the kernel needs of a type for its sizes and run times."""

    serial: float
    power_of_two: float
    u_low: float
    u_med: float
    u_hi: float
    u_prob: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    processors: int
    largest_power: float


def _sizes_and_run_times(
    count: int, name: str, job_type: JobType, parameters: LublinFeitelsonParameters
) -> tuple[IntArray, FloatArray]:
    """Return sizes and run times of the first jobs of a type."""
    sizes, run_times = np.empty(count, np.int64), np.empty(count)
    step = np.uint64(step_key(f"lublin-feitelson/job/{name}"))
    model = _Sizes(
        job_type.serial_probability,
        job_type.power_of_two_probability,
        *(job_type.u_low, job_type.u_med, job_type.u_hi, job_type.u_prob),
        *(job_type.a1, job_type.b1, job_type.a2, job_type.b2, job_type.pa, job_type.pb),
        parameters.processors,
        float(parameters.processors.bit_length() - 1),
    )
    _draw_jobs(sizes, run_times, model, np.uint64(parameters.seed), step)
    return sizes, run_times


@kernel
def _draw_jobs(sizes: IntArray, run_times: FloatArray, model: _Sizes, seed: np.uint64, step: np.uint64) -> None:
    """Fill in sizes and run times; the caller guarantees that enough run times stay below their limit."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(sizes)):
        start_stream(state, seed, step, i, 0)
        u = next_uniform(state)
        sizes[i] = 1
        if u > model.serial:
            if next_uniform(state) <= model.u_prob:
                x = model.u_low + (model.u_med - model.u_low) * next_uniform(state)
            else:
                x = model.u_med + (model.u_hi - model.u_med) * next_uniform(state)
            if u <= model.serial + model.power_of_two:
                x = min(np.floor(x + 0.5), model.largest_power)
            sizes[i] = min(max(int(np.floor(2.0**x + 0.5)), 1), model.processors)
        p = min(max(model.pa * sizes[i] + model.pb, 0.0), 1.0)
        g = MAX_RUN_TIME_LOG + 1.0
        while g > MAX_RUN_TIME_LOG:
            if next_uniform(state) <= p:
                g = model.b1 * next_gamma(state, model.a1)
            else:
                g = model.b2 * next_gamma(state, model.a2)
        run_times[i] = np.floor(np.exp(g))
