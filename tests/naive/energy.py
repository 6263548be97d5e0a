# SPDX-License-Identifier: BSD-3-Clause
"""The slow twin of energy: second by second, in whole seconds, from the runs of a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.simulator.schedule import Schedule


def power_each_second(
    schedule: Schedule, watts: dict[int, float], idle: float, static: float, begin: int, end: int
) -> list[float]:
    """Return the power of the machine in each second of a window; ``watts`` is of a processor, by job number."""
    powers = []
    for second in range(begin, end):
        busy, power = 0, static
        for run in schedule.segments.itertuples():
            if run.start_time <= second < run.end_time:
                busy += run.allocated_processors
                power += run.allocated_processors * watts[run.job_number]
        powers.append(power + (schedule.processors - busy) * idle)
    return powers


def measures(powers: list[float], rates: list[float], points: tuple[float, ...]) -> dict[tuple[str, str], Any]:
    """Return measures of powers and rates (per kWh), a value a second."""
    length = len(powers)
    kwh = [power / 3.6e6 for power in powers]
    total = sum(each * rate for each, rate in zip(kwh, rates, strict=True))
    ordered = sorted(powers)
    found = {
        ("energy", "total"): float(sum(powers)),
        ("energy_delay", "by_makespan"): float(sum(powers)) * length,
        ("power", "time_mean"): sum(powers) / length,
        ("power", "max"): max(powers),
        ("cost", "total"): total,
        ("price", "by_energy"): total / sum(kwh) if sum(kwh) else np.nan,
        ("price", "time_mean"): sum(rates) / length,
    }
    for point in points:  # the least power that is not exceeded in so many percent of the seconds
        place = next(place for place in range(length) if (place + 1) * 100 >= point * length)
        found["power", f"p{point:g}"] = ordered[place]
    return found
