# SPDX-License-Identifier: BSD-3-Clause
"""The policy of a simulation as it is carried out on its machine, and what it remembers before the first job comes."""

from __future__ import annotations

from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.policy_abi import Memory
from swftools.simulator.registry import Policy
from swftools.simulator.simulation import Simulation


def carried_out(simulation: Simulation) -> Policy:
    """Return the policy as it is carried out on the machine."""
    driver = simulation._driver
    if simulation.nodes is None:
        return driver.policy
    return driver.policy.made_for(simulation._chosen).on(driver.called.kind)


def empty_memory(simulation: Simulation, jobs: int, parts: int) -> Memory:
    """Return what a policy remembers of so many jobs, and of so many nodes that they ask for."""
    room = None if simulation.nodes is None else NodeRoom(len(simulation.nodes), parts)
    return carried_out(simulation).empty_memory(jobs, simulation.processors, simulation._chosen, room)
