# SPDX-License-Identifier: BSD-3-Clause
"""PriceSchedule: publish what the jobs of a schedule cost; PriceJobs: a part of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import luigi
import numpy as np
import pandas as pd
import pyarrow as pa

from pipelines.keys import content_key, schema_of
from pipelines.tasks.augmented import augmented
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, names_table
from pipelines.tasks.own_code import hash_of_module
from pipelines.tasks.publish_schedule import simulation_facts
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.simulate import ScheduleTask, label_of
from pipelines.tasks.simulation_parameters import PoliciesParameter
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.market import Mechanism, Prices, find_mechanism, price
from swftools.parameters import Parameters
from swftools.selection import scale_to_load
from swftools.tables import read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace


class PricingTask(ScheduleTask):
    """What tasks of prices have in common: the policy whose schedule is priced, and the mechanism."""

    policy = PoliciesParameter(default="genetic", description="a policy, such as genetic or easy:reservations=2")
    mechanism = luigi.Parameter(default="vcg", description="fixed, queue, first-price, vcg:horizon=24h or module:name")
    parts = luigi.IntParameter(default=8, significant=False, description="tasks that the work is parted into")

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, also one of the simulation."""
        super().check_values()
        _ = self.found_mechanism
        if self.parts < 1:
            raise ParameterError(f"parts={self.parts} is not an integer of 1 or more")

    @property
    def found_mechanism(self) -> tuple[Mechanism, Parameters]:
        """The mechanism and its parameters."""
        return find_mechanism(self.mechanism)

    def priced_by(self) -> dict[str, Any]:
        """Return what prices depend on beside the schedule."""
        found, parameters = self.found_mechanism
        own = hash_of_module(found.set_prices.__module__)
        return {"mechanism": found.name, **parameters.to_mapping(), "version": found.version, "own_mechanism": own}


class PriceJobs(PricingTask):
    """Price one part of a schedule's jobs.

    Reads the schedule and its trace; writes ``<work root>/priced/<key>/`` with the table prices; complete when that
    exists.
    """

    code_version = 1
    parts = luigi.IntParameter(default=8, description="parts that there are")
    part = luigi.IntParameter(default=0, description="which of them, from 0")

    def effort(self) -> float:
        """Return that of a simulation, or of a share of one for each job."""
        return self.simulation.effort() * (50.0 / self.parts if self.found_mechanism[0].name == "vcg" else 0.1)

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.simulation.subject} {self.mechanism} part {self.part + 1} of {self.parts}"

    @property
    def key(self) -> str:
        """Content key of the output."""
        inputs = {"schedule": self.simulation.key, **self.priced_by(), "part": self.part, "parts": self.parts}
        return content_key("price", self.code_version, inputs)

    def requires(self) -> list[luigi.Task]:
        """Require the schedule, and what its trace is made of."""
        return [self.simulation, *self.simulation.requires()]

    def output(self) -> DirectoryTarget:
        """Return the directory of the table."""
        return self.directory("priced", self.key)

    def run(self) -> None:
        """Set prices."""
        schedule = self.simulation.load_schedule()
        keys = schedule.jobs[["job_number", "job_occurrence"]]
        prices = price(
            schedule,
            self.mechanism,
            trace=self._trace(),
            jobs=keys.iloc[np.array_split(np.arange(len(keys)), self.parts)[self.part]],
            progress=lambda done, jobs, _: self.tell(done, jobs),
        )
        with self.output().fill() as directory:
            write_table(to_arrow(prices.jobs, "prices"), directory / "prices.parquet", "prices")

    def load_prices(self) -> pd.DataFrame:
        """Return the table of the finished task."""
        return to_pandas(read_table(self.output().path / "prices.parquet", "prices"), "prices")

    def _trace(self) -> Trace:
        """Return the trace as it was simulated."""
        trace = augmented(self.clone(CleanTrace), self.simulation.augmentations)
        return scale_to_load(trace, self.load) if self.load else trace


class PriceSchedule(PricingTask, LogPublishingTask):
    """Publish the prices of a schedule's jobs, and what each user owes.

    Reads the prices of each part, a task of its own: what is finished is not computed again, and ``--workers N`` runs N
    at a time. Writes ``<data root>/<log>-prices/<version>/`` with the table prices, names of users where the log has
    them, the bill as CSV, a README.md, a datapackage.json and a manifest; complete when that version is published.
    """

    code_version = 2
    main_table = "prices"
    tables_used = ("prices", "names")
    what = "Prices of the jobs of a simulated schedule"

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-prices"

    @property
    def cells(self) -> list[PriceJobs]:
        """The tasks of the parts."""
        return [self.clone(PriceJobs, part=part) for part in range(self.parts)]

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            "schedule": self.simulation.key,
            **self.priced_by(),
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
        }
        return content_key("prices", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return every part, and the schedule and trace, of which the manifest tells."""
        return [*self.cells, self.simulation, self.clone(CleanTrace)]

    def contents(self) -> Contents:
        """Return prices, and a file of the bill."""
        prices = pd.concat([cell.load_prices() for cell in self.cells], ignore_index=True)
        bill = Prices(prices, self.mechanism, label_of(self.simulation.entry)).bill()
        files = {"bill.csv": writer_of(bill.to_csv(index=False, lineterminator="\n"))}
        names = names_table(self.clone(CleanTrace).load_names(["user"]))
        return Contents({"prices": to_arrow(prices, "prices"), **names}, self._facts(), files)

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return prices in brief."""
        prices = to_pandas(read(), "prices")
        return f"{Prices(prices, self.mechanism, label_of(self.simulation.entry))!r}\n\n"

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        facts = simulation_facts(self.simulation, [self.cells[0], self], [self.simulation.entry])
        return {
            **facts,
            "assumptions": [*facts["assumptions"], *self.simulation.load_schedule().assumptions],
            "parameters": {**facts["parameters"], "prices": self.priced_by()},
            "seeds": [self.seed],
        }
