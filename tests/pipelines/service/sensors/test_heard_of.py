# SPDX-License-Identifier: BSD-3-Clause
"""What a cluster makes of what its sensor tells, and what it says of the sensor."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from pipelines.service.clocks import ReplayClock
from pipelines.service.clusters import Cluster
from pipelines.service.exposition import Exposition
from pipelines.service.sensors.sensor import NOT_SAID, Machine
from pipelines.service.sensors.slurm import SlurmSensor
from swftools.qbets import WaitPredictor
from tests.pipelines.service.sensors.commands import Commands


def heard_of(commands: Commands) -> tuple[Cluster, list[float]]:
    """Return a cluster that hears of a Slurm, and the time."""
    now = [0.0]
    clock = ReplayClock(1000.0, 1.0, lambda: now[0])
    predictor = WaitPredictor("binomial", "queue", training=0, quantile=0.5)
    return Cluster("blue", predictor, SlurmSensor(commands), clock, 60.0), now


def test_a_job_that_becomes_eligible_or_changes_still_waits() -> None:
    """And its wait is that from its submission."""
    commands = Commands()
    cluster, now = heard_of(commands)
    for line, waiting, running in (
        ("7|PENDING|batch|ann|4|1:00:00|1000|N/A|N/A|", 1, 0),
        ("7|PENDING|batch|ann|4|30:00|1000|1050|N/A|", 1, 0),
        ("7|RUNNING|batch|ann|4|30:00|1000|1050|1090|", 0, 1),
    ):
        now[0] += 60.0
        commands.queue = [line]
        cluster.poll()
        assert (cluster.waiting, cluster.running) == (waiting, running)
    assert (cluster.waited, sum(cluster.waits), cluster.events) == (90.0, 1, 4)


def test_what_it_costs_is_a_metric() -> None:
    """Calls, seconds and failures of each command, as they are when Prometheus asks."""
    commands = Commands()
    cluster, now = heard_of(commands)
    registry = CollectorRegistry()
    registry.register(Exposition({"blue": cluster}))
    commands.queue, commands.away = ["7|PENDING|batch|ann|4|1:00:00|1000|N/A|N/A|"], {"sacct"}
    cluster.poll()
    commands.queue, now[0] = [], 60.0
    cluster.poll()
    told = dict(line.rsplit(" ", 1) for line in generate_latest(registry).decode().splitlines() if line[0] != "#")
    of_command = {
        (name, command): float(told[f'swftools_sensor_{name}_total{{cluster="blue",command="{command}"}}'])
        for name in ("calls", "failures")
        for command in ("squeue", "sacct")
    }
    assert of_command == {
        ("calls", "squeue"): 2.0,
        ("calls", "sacct"): 1.0,
        ("failures", "squeue"): 0.0,
        ("failures", "sacct"): 1.0,
    }
    seconds = told['swftools_sensor_seconds_total{cluster="blue",command="squeue"}']
    assert float(seconds) == cluster.costs["squeue"].seconds


def test_a_machine_that_nobody_knew_is_asked_for_again() -> None:
    """At the next poll, not an hour later."""

    class Asked(SlurmSensor):
        """One whose machine is said at the second time."""

        asked = 0

        def machine(self) -> Machine:
            """Return it."""
            self.asked += 1
            return NOT_SAID if self.asked == 1 else Machine(16)

    cluster, now = heard_of(Commands())
    cluster._sensor = sensor = Asked(Commands())
    for moment, processors, asked in ((0.0, None, 1), (59.0, None, 1), (60.0, 16, 2), (3600.0, 16, 2), (3660.0, 16, 3)):
        now[0] = moment
        cluster.poll()
        assert (cluster.machine.processors, sensor.asked) == (processors, asked)
