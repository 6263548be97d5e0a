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


def power_of_nodes_each_second(
    schedule: Schedule, powers: dict[str, tuple[float, float, float]], end: int, **options: float
) -> list[list[float]]:
    """Return the power of each node in each second from the first submission on, by the powers of its kind.

    ``powers`` are of a busy core, an idle one and the rest; ``options`` as those of ``EnergyParameters``.
    """
    machine = schedule.machine
    assert machine is not None
    begin = int(schedule.jobs["submit_time"].min())
    found = []
    for node in range(len(machine)):
        busy, idle, rest = powers[machine.kinds[machine.kind[node]]]
        cores, runs = int(machine.cores[node]), []
        for run in schedule.segments.itertuples():
            if any(low <= node <= high for low, high in zip(run.nodes[::2], run.nodes[1::2], strict=True)):
                held = cores if run.is_exclusive else int(run.cores_per_node)
                runs.append((run.start_time, run.end_time, held))
        of_node = []
        for second in range(begin, end):
            held = sum(each for first, last, each in runs if first <= second < last)
            power = held * busy + (cores - held) * idle + rest
            if not any(first <= second < last for first, last, _ in runs):
                off = max([begin, *(last for _, last, _ in runs if last <= second)]) + options["off_after"]
                boot = min([np.inf, *(first for first, _, _ in runs if first > second)]) - options["boot_time"]
                if off < boot and off <= second:
                    power = options["off_power"] if second < boot else options["boot_power"]
            of_node.append(power)
        found.append(of_node)
    return found


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
