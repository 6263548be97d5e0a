# SPDX-License-Identifier: BSD-3-Clause
"""Energy of finished schedules: the machine's power over time, its cost, and its carbon emissions.

``measure_energy(schedule, idle_power=50)`` returns a table like that of ``measure``; with a series of prices or of
carbon intensities, read by ``read_rates``, also cost and carbon.
"""

from swftools.energy.kind_power import power_by_kind
from swftools.energy.measurement import measure_energy
from swftools.energy.node_power import NodePower, powers_of
from swftools.energy.power import EnergyParameters, power_over_time
from swftools.energy.rates import Rates, read_rates

__all__ = [
    "EnergyParameters",
    "NodePower",
    "Rates",
    "measure_energy",
    "power_by_kind",
    "power_over_time",
    "powers_of",
    "read_rates",
]
