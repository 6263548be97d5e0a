# SPDX-License-Identifier: BSD-3-Clause
"""Measures of planned schedules, by name: a search makes them small.

A measure adds up, or takes the greatest of, what each waiting job costs where it is planned. No cost is negative, so a
measure only grows while jobs are placed one by one, and a search need not go on once it is beyond the best. The four of
the paper, and two more:

``T_w``
    Total excessive wait: the sum of what jobs will have waited beyond a threshold. The threshold is how long the
    longest waiting job has waited by now, unless you give one.
``maxW``, ``avgW``
    The longest and the mean wait.
``avgX``
    The mean slowdown, (wait + time) / time, with the expected time (1 s if that is 0).
``maxE``
    The greatest excessive wait.
``lost-utility``
    The sum of how much less completion is worth than at submission. With non-increasing utility functions, the least
    lost utility is the largest aggregate utility (Lee 2009). Needs the column ``utility``; a job without a function
    loses nothing.

References
----------
Chiang and Vasupongayya 2008, section 3.1 and Table 4; ``maxE`` in section 6.2.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from swftools.errors import ParameterError
from swftools.kernel import Kernel, kernel
from swftools.kernel.pointers import address_of
from swftools.parameters import did_you_mean
from swftools.parameters.registry import Registry

WAIT, SLOWDOWN, LOST_UTILITY, OWN = range(4)
"""What a job costs: its wait, its slowdown, the utility that it loses, or what a function of one's own says."""

FOLDS = ("sum", "mean", "max")
"""What becomes of the costs of all jobs."""

REFERENCES = ("fcfs", "lxf")
"""Whose schedule of backfilling gives the reference value of ``tradeoff-c``."""

GIVEN = ("wait", "time", "processors", "user", "queue", "rank", "threshold")
"""What a function of one's own may ask for, by these names, as numbers.

The planned wait and the expected time, s; the job's processors; its user, numbered from 0 in the order in which users
come; the log's number of its queue, and its priority rank, -1 where the trace does not say; and what the longest
waiting job has waited, s.
"""


@dataclass(frozen=True)
class PlannedMeasure:
    """A measure of planned schedules.

    Parameters
    ----------
    name : str
        By which objectives name it.
    cost : int
        What a job costs: ``WAIT``, ``SLOWDOWN``, ``LOST_UTILITY`` or ``OWN``.
    fold : {"sum", "mean", "max"}
        What becomes of the costs of all jobs.
    takes_threshold : bool
        Waits up to a threshold cost nothing.
    reference : {"fcfs", "lxf"}
        Whose schedule of backfilling gives its reference value in ``tradeoff-c``.
    is_often_zero : bool
        A difference of one percent of the longest wait so far is none, rather than of the measure: which may be 0.
    needs : tuple of str
        Columns of the trace.
    function : Kernel, optional
        Takes what ``GIVEN`` names, as numbers, and returns the cost.
    """

    name: str
    cost: int
    fold: str
    takes_threshold: bool = False
    reference: str = "fcfs"
    is_often_zero: bool = False
    needs: tuple[str, ...] = ()
    function: Kernel[..., float] | None = None

    @cached_property
    def address(self) -> int:
        """By what number compiled code calls the function; 0 without one."""
        if self.function is None:
            return 0
        from numba import types  # noqa: PLC0415 (takes half a second)

        signature = types.float64(*[types.float64] * len(GIVEN))
        compiled = kernel(signature, allocates=False)(self.function.py_func)
        _COMPILED.append(compiled)
        return address_of(compiled)


_COMPILED: list[Kernel[..., float]] = []
"""What is called by its address must be there as long as the process."""

PLANNED_MEASURES: Registry[PlannedMeasure] = Registry("measure")
find_measure, list_measures = PLANNED_MEASURES.find, PLANNED_MEASURES.list


def planned_measure(
    name: str, *, fold: str = "sum", reference: str = "fcfs", is_often_zero: bool = False
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Register a measure of your own: a function that returns the cost of a job in a plan.

    Parameters
    ----------
    name : str
        Its name in objectives: letters, digits, ``_``, ``.`` and single ``-``, beginning with a letter.
    fold, reference, is_often_zero
        See ``PlannedMeasure``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; the function takes other arguments than those of ``GIVEN``.

    Notes
    -----
    The function is compiled, so it may use numbers, ``math`` and kernels. The cost must be 0 or more, and must not fall
    as the wait grows, because the search cuts branches on that assumption. A negative cost or NaN ends the simulation.

    Examples
    --------
    >>> @planned_measure("example-processor-wait", fold="mean")
    ... def processor_wait(wait, processors):
    ...     return wait * processors
    >>> find_measure("example-processor-wait").fold
    'mean'
    """
    if fold not in FOLDS or reference not in REFERENCES:
        wanted = f"fold one of {', '.join(FOLDS)}, reference one of {', '.join(REFERENCES)}"
        raise ParameterError(f"measure {name!r}: fold={fold!r}, reference={reference!r}; {wanted}")

    def make(function: Callable[..., float]) -> PlannedMeasure:
        taken = list(inspect.signature(function).parameters)
        if unknown := [each for each in taken if each not in GIVEN]:
            raise ParameterError(
                f"measure {name!r} takes {', '.join(unknown)}; there are {', '.join(GIVEN)}"
                f"{did_you_mean(unknown, GIVEN)}"
            )
        of_all = _of_all(function, taken)
        return PlannedMeasure(name, OWN, fold, reference=reference, is_often_zero=is_often_zero, function=of_all)

    return PLANNED_MEASURES.decorator(name, make)


def _of_all(function: Callable[..., float], taken: list[str]) -> Kernel[..., float]:
    """Return a kernel that takes all of ``GIVEN`` and hands on what a function asks for."""
    names = {"cost": kernel(allocates=False)(function), "__name__": function.__module__}
    text = f"def all_given({', '.join(GIVEN)}):\n    return float(cost({', '.join(taken)}))\n"
    # The file is the function's: by it, and by what it says, numba's cache is kept.
    exec(compile(text, function.__code__.co_filename, "exec"), names)  # noqa: S102 (text of ours)
    made = names["all_given"]
    made.__module__, made.__qualname__ = function.__module__, f"{function.__qualname__}.all_given"  # type: ignore[attr-defined]
    return kernel(allocates=False)(made)  # type: ignore[arg-type]


for _measure in (
    PlannedMeasure("T_w", WAIT, "sum", takes_threshold=True, is_often_zero=True),
    PlannedMeasure("maxW", WAIT, "max"),
    PlannedMeasure("avgW", WAIT, "mean", reference="lxf"),
    PlannedMeasure("avgX", SLOWDOWN, "mean", reference="lxf"),
    PlannedMeasure("maxE", WAIT, "max", takes_threshold=True, is_often_zero=True),
    PlannedMeasure("lost-utility", LOST_UTILITY, "sum", reference="lxf", needs=("utility",)),
):
    PLANNED_MEASURES.add(_measure.name, _measure, PlannedMeasure)
