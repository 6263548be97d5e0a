# SPDX-License-Identifier: BSD-3-Clause
"""The parameter sets of the Lublin-Feitelson model: batch jobs, interactive jobs, and all jobs as one type.

References
----------
Lublin and Feitelson 2003, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
JPDC 63(11); the figures are those of the authors' program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from swftools.parameters import Parameters, number

MAX_RUN_TIME_LOG = 12.0
"""Natural logarithm of the longest run time, s; larger draws are drawn again."""

MAX_GAP_LOG = 13.0
"""Natural logarithm of the longest time between arrivals, s; larger draws are drawn again."""

LEAST_ACCEPTANCE = 0.01
"""Parameters under which a smaller share of draws stays below those limits are refused."""

REFERENCE_PROCESSORS = 128
"""Machine that the published sizes are of; for another, u_med and u_hi move by log2 of the ratio."""


@dataclass(frozen=True)
class JobType(Parameters):
    """Parameters of one type of jobs, by the names of the paper.

    Parameters
    ----------
    serial_probability : float
        Share of jobs of one processor.
    power_of_two_probability : float
        Share of jobs whose size is rounded to a power of two.
    u_low, u_med, u_hi, u_prob : float
        log2 of the size of parallel jobs is uniform on [u_low, u_med] with probability u_prob, else on [u_med, u_hi].
    a1, b1, a2, b2 : float
        The natural logarithm of the run time (s) is gamma with shape a1 and scale b1, or a2 and b2.
    pa, pb : float
        Probability of the first of the two: pa x size + pb, cut to [0, 1].
    aarr, barr : float
        The natural logarithm of the time between arrivals (s, at an average time of day) is gamma with shape
        aarr x arar and scale barr. aarr is the knob of the load: lower is heavier.
    anum, bnum : float
        Arrivals over the day, in half hours, follow a gamma density of this shape and scale.
    arar : float
        Ratio of arrival rates between rush hours and all hours.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "lublin-feitelson"
    POSITIVE: ClassVar[tuple[float, float]] = (1e-6, 1e6)

    serial_probability: float = number(least=0, most=1)
    power_of_two_probability: float = number(least=0, most=1)
    u_low: float = number(least=0, most=31, unit="log2 of a size")
    u_med: float = number(least=0, most=31, unit="log2 of a size")
    u_hi: float = number(least=0, most=31, unit="log2 of a size")
    u_prob: float = number(least=0, most=1)
    a1: float = number(least=POSITIVE[0], most=POSITIVE[1])
    b1: float = number(least=POSITIVE[0], most=POSITIVE[1])
    a2: float = number(least=POSITIVE[0], most=POSITIVE[1])
    b2: float = number(least=POSITIVE[0], most=POSITIVE[1])
    pa: float = number(least=-1e6, most=1e6)
    pb: float = number(least=-1e6, most=1e6)
    aarr: float = number(least=POSITIVE[0], most=POSITIVE[1])
    barr: float = number(least=POSITIVE[0], most=POSITIVE[1])
    anum: float = number(least=POSITIVE[0], most=POSITIVE[1])
    bnum: float = number(least=POSITIVE[0], most=POSITIVE[1])
    arar: float = number(least=POSITIVE[0], most=POSITIVE[1])

    def __post_init__(self) -> None:
        super().__post_init__()
        both = self.serial_probability + self.power_of_two_probability
        self._require("power_of_two_probability", both <= 1, f"at most 1 - {self.serial_probability} (serial)")
        self._require("u_med", self.u_low <= self.u_med, f"at least u_low={self.u_low}")
        self._require("u_hi", self.u_med <= self.u_hi, f"at least u_med={self.u_med}")
        self._require("pb", 0 <= self.pa + self.pb <= 1, f"such that pa + pb, with pa={self.pa}, is from 0 to 1")
        for shape, scale in (("a1", "b1"), ("a2", "b2")):
            usual = f"such that with {scale}={getattr(self, scale)} at least 1 % of run times stay below e^12 s"
            self._require(shape, _is_mostly_below(getattr(self, shape), getattr(self, scale), MAX_RUN_TIME_LOG), usual)
        usual = f"such that with arar={self.arar}, barr={self.barr} at least 1 % of the times between arrivals stay "
        is_usual = _is_mostly_below(self.aarr * self.arar, self.barr, MAX_GAP_LOG)
        self._require("aarr", is_usual, usual + "below e^13 s")

    def on_machine(self, processors: int) -> JobType:
        """Return the type with its sizes moved to a machine: u_hi and u_med grow with log2 of its processors.

        ``u_hi`` of the types all and batch becomes log2(processors), as the authors say; the distance between u_med
        and u_hi is kept. None falls below 0, nor out of order.
        """
        shift = math.log2(processors / REFERENCE_PROCESSORS)
        u_hi = max(self.u_hi + shift, 0.0)
        u_low = min(self.u_low, u_hi)
        return replace(self, u_low=u_low, u_med=min(max(self.u_med + shift, u_low), u_hi), u_hi=u_hi)

    @property
    def mean_gap(self) -> float:
        """Mean time between arrivals, s."""
        return mean_gap(self.aarr * self.arar, self.barr)


def _is_mostly_below(shape: float, scale: float, limit: float) -> bool:
    """Whether enough gamma numbers stay below a limit; at least half do where the mean does."""
    return shape * scale <= limit or _share_below(shape, scale, limit) >= LEAST_ACCEPTANCE


def _share_below(shape: float, scale: float, limit: float) -> float:
    """Return the probability that a gamma number stays below a limit."""
    from scipy.special import gammainc  # noqa: PLC0415 (scipy on first use: importing swftools stays quick)

    return float(gammainc(shape, limit / scale))


def mean_gap(shape: float, scale: float) -> float:
    """Return the mean of e^g for a gamma number g of at most 13, s.

    For a scale below 1 this is (1 - b)^-a F'(13) / F(13), with F' the distribution of scale b / (1 - b); in general
    it is 1 + the integral of e^g (1 - F(g) / F(13)) from 0 to 13.

    Examples
    --------
    >>> round(mean_gap(10.2303 * 1.0225, 0.4871), 1)
    911.3
    """
    if scale < 1:
        ratio = _share_below(shape, scale / (1 - scale), MAX_GAP_LOG) / _share_below(shape, scale, MAX_GAP_LOG)
        return math.exp(-shape * math.log1p(-scale)) * ratio
    from scipy.integrate import quad  # noqa: PLC0415

    below = _share_below(shape, scale, MAX_GAP_LOG)

    def excess(g: float) -> float:
        return math.exp(g) * (1 - _share_below(shape, scale, g) / below)

    return 1 + float(quad(excess, 0, MAX_GAP_LOG, limit=200)[0])


BATCH = JobType(
    serial_probability=0.2927,
    power_of_two_probability=0.6686,
    u_low=1.2,
    u_med=5.0,
    u_hi=7.0,
    u_prob=0.875,
    a1=6.57,
    b1=0.823,
    a2=639.1,
    b2=0.0156,
    pa=-0.003,
    pb=0.6986,
    aarr=6.0415,
    barr=0.8531,
    anum=6.1271,
    bnum=5.2740,
    arar=1.0519,
)
"""Batch jobs."""

INTERACTIVE = JobType(
    serial_probability=0.1541,
    power_of_two_probability=0.625,
    u_low=1.0,
    u_med=3.0,
    u_hi=5.5,
    u_prob=0.705,
    a1=3.8351,
    b1=0.6605,
    a2=7.073,
    b2=0.6856,
    pa=-0.0118,
    pb=0.9156,
    aarr=6.5510,
    barr=0.6621,
    anum=8.9186,
    bnum=3.6680,
    arar=0.9797,
)
"""Interactive jobs."""

ALL = JobType(
    serial_probability=0.244,
    power_of_two_probability=0.576,
    u_low=0.8,
    u_med=4.5,
    u_hi=7.0,
    u_prob=0.86,
    a1=4.2,
    b1=0.94,
    a2=312.0,
    b2=0.03,
    pa=-0.0054,
    pb=0.78,
    aarr=10.2303,
    barr=0.4871,
    anum=8.1737,
    bnum=3.9631,
    arar=1.0225,
)
"""All jobs as one type."""

JOB_TYPES = {"interactive": INTERACTIVE, "batch": BATCH, "all": ALL}
"""The parameter sets by name; of arrivals at one instant the type named first comes first."""

MODES = {"all": ("all",), "batch": ("batch",), "interactive": ("interactive",), "mix": ("interactive", "batch")}
"""What a workload may consist of, and of which types."""
