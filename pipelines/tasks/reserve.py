# SPDX-License-Identifier: BSD-3-Clause
"""SimulateReservations and PublishReservations: a log in which a share of the jobs reserves by predicted waits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, names_table
from pipelines.tasks.own_code import hash_of_module
from pipelines.tasks.parameters import MappingParameter, MethodsParameter
from pipelines.tasks.publish_schedule import simulation_facts
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.replay_predictor import ReplayOptionsParameter, groups_of
from pipelines.tasks.simulate import ScheduleTask, label_of
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.named import kind_of
from swftools.output.amounts import percent
from swftools.qbets.methods import find_method
from swftools.qbets.predictor import WaitPredictor
from swftools.reservations.live_waits import check_asked
from swftools.reservations.simulated import ReservedSchedule, simulate_reservations
from swftools.reservations.varq_parameters import VarqParameters, check_told, check_widths
from swftools.simulator.registry import find_policy
from swftools.tables import QUICK_OPTIONS, read_table, to_arrow, write_frame, write_table


class ReservationTask(ScheduleTask):
    """What tasks of reservations have in common: who asks for what, and how waits are bounded."""

    varq = MappingParameter(
        "varq",
        VarqParameters,
        default="",
        description="who asks: share=.1,probability=.95,every=21600,... or JSON",
    )
    waits = MethodsParameter(default="binomial", description="a bound of waits, such as binomial or lognormal")
    by = luigi.Parameter(default="queue", description="groups of waits: queue, partition, user, ...; all")
    wait_options = ReplayOptionsParameter(
        default="", description="parameters of the bounds: training=200,clustering=false,... or JSON"
    )

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or reservations cannot be had of policy or bound."""
        super().check_values()
        if self.machine:
            raise ParameterError("reservations are not simulated on machines of nodes yet; give --processors")
        check_asked(self.predictor_of_waits)
        check_told(self.options["predictor"])
        check_widths(find_policy(self.simulation.entry["policy"]), self.simulation._chosen)

    @property
    def bound(self) -> str:
        """The bound, as text."""
        texts: list[str] = json.loads(self.waits)
        if len(texts) > 1:
            raise ParameterError(f"waits: {len(texts)} methods; give one")
        return texts[0]

    @property
    def predictor_of_waits(self) -> WaitPredictor:
        """How waits are bounded."""
        return WaitPredictor(self.bound, groups_of(self.by), **json.loads(self.wait_options))

    def reserved_by(self) -> dict[str, Any]:
        """Return what reservations depend on beside the simulation without any."""
        return {
            "varq": json.loads(self.varq),
            "waits": self.bound,
            "own_waits": hash_of_module(type(find_method(self.bound)).__module__),
            "by": groups_of(self.by),
            "wait_options": json.loads(self.wait_options),
        }


class SimulateReservations(ReservationTask):
    """Simulate a trace under a policy, in which a share of the jobs reserves by predicted waits.

    Reads the cleaned trace, the columns of its augmentations, and its schedule without reservations; writes
    ``<work root>/reserved/<key>/`` with the tables reservations and schedule, and measures.json; complete when that
    exists.
    """

    code_version = 1

    @property
    def key(self) -> str:
        """Content key of the output."""
        return content_key("reserve", self.code_version, {"schedule": self.simulation.key, **self.reserved_by()})

    def requires(self) -> list[luigi.Task]:
        """Require the schedule without reservations, and what its trace is made of."""
        return [self.simulation, *self.simulation.requires()]

    def output(self) -> DirectoryTarget:
        """Return the directory of the tables."""
        return self.directory("reserved", self.key)

    def run(self) -> None:
        """Simulate."""
        simulation = self.simulation
        plain = simulation.load_schedule()
        found = simulate_reservations(
            simulation.simulated_trace(),
            simulation.entry["policy"],
            waits=self.predictor_of_waits,
            seed=self.seed,
            progress=lambda done, jobs, _: self.tell(done, jobs),
            options={**simulation.options, **simulation._chosen},
            **json.loads(self.varq),
        )
        measures = {name: None if pd.isna(value) else value for name, value in found.measures(plain).items()}
        told = {"measures": measures, "brief": repr(found), "assumptions": list(found.schedule.assumptions)}
        with self.output().fill() as directory:
            write_table(reservations_table(found), directory / "reservations.parquet", "reservations", QUICK_OPTIONS)
            write_frame(found.schedule.jobs, directory / "schedule.parquet", "schedule", QUICK_OPTIONS)
            (directory / "measures.json").write_text(canonical_json(told), encoding="utf-8")

    def load_told(self) -> dict[str, Any]:
        """Return ``measures``, ``brief`` and ``assumptions`` of the finished task."""
        told: dict[str, Any] = json.loads((self.output().path / "measures.json").read_text(encoding="utf-8"))
        return told


def reservations_table(found: ReservedSchedule) -> pa.Table:
    """Return who asked for what, as the table that is published."""
    return to_arrow(found.reservations, "reservations")


class PublishReservations(ReservationTask, LogPublishingTask):
    """Publish what came of it where a share of the jobs of a log reserves by predicted waits.

    Reads what SimulateReservations made; writes ``<data root>/<log>-reservations/<version>/`` with the tables
    reservations, schedule and, where the log names its groups, names, the measures as CSV, a README.md, a
    datapackage.json and a manifest; complete when that version is published.
    """

    code_version = 2
    main_table = "reservations"
    tables_used = ("reservations", "schedule", "names")
    what = "Reservations by predicted waits, in a simulated schedule"

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-reservations"

    @property
    def reserving(self) -> SimulateReservations:
        """The task whose tables are published."""
        task: SimulateReservations = self.clone(SimulateReservations)
        return task

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            "reservations": self.reserving.key,
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
        }
        return content_key("publish-reservations", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return the simulations, and the trace, of which the manifest tells."""
        return [self.reserving, self.simulation, self.clone(CleanTrace)]

    def contents(self) -> Contents:
        """Return the tables, and a file of measures."""
        folder, told = self.reserving.output().path, self.reserving.load_told()
        tables = {name: read_table(folder / f"{name}.parquet", name) for name in ("reservations", "schedule")}
        tables |= names_table(self.clone(CleanTrace).load_names(map(kind_of, groups_of(self.by) or ())))
        measures = pd.DataFrame(list(told["measures"].items()), columns=["measure", "value"])
        files = {"measures.csv": writer_of(measures.to_csv(index=False, lineterminator="\n"))}
        entry = self.simulation.entry
        facts = simulation_facts(self.simulation, [self.reserving, self], [entry])
        share = json.loads(self.varq)["share"]
        title = f"{percent(share)} of the jobs reserve, {label_of(entry)}, seed {self.seed}"
        return Contents(
            tables,
            {
                **facts,
                "title": f"{title}: {facts.get('title') or self.found.name}",
                "assumptions": [*facts["assumptions"], *told["assumptions"]],
                "parameters": {**facts["parameters"], "reservations": self.reserved_by()},
                "seed": self.seed,
                "measures": told["measures"],
            },
            files,
        )

    def heading(self, read: Callable[[], pa.Table]) -> str:  # noqa: ARG002 (all is told beside it)
        """Return reservations in brief, if what is published was made here."""
        return f"{self.reserving.load_told()['brief']}\n\n" if self.reserving.output().exists() else ""
