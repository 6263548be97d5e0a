# SPDX-License-Identifier: BSD-3-Clause
"""CompareCandidates: publish what each of several candidates brings beside machine and policy as they are."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from math import isnan
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.experiments.advice import advice_of
from pipelines.experiments.candidate_runs import RunFigures, figures_of
from pipelines.experiments.candidate_words import Candidate, read_candidates
from pipelines.experiments.candidates import AS_IT_IS, ASSUMPTIONS, SHOWN, CandidateStudy, of_all_jobs, study_candidates
from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.logs.machine import STRETCHED
from pipelines.tasks.cells import CellsTask, seeds_of
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import tables_in_width
from pipelines.tasks.facts import card_of
from pipelines.tasks.measure import UNMEASURED, MeasuringTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.parameters import from_json
from pipelines.tasks.publish_schedule import simulation_facts
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.simulate import SimulatePolicy, label_of
from pipelines.tasks.simulation_parameters import PoliciesParameter
from swftools.errors import ParameterError
from swftools.named import NUMBERED
from swftools.output.amounts import amount
from swftools.output.shown_text import WIDTH
from swftools.simulator.metrics.beside_log import beside_log
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.registry import read_policy
from swftools.tables import to_arrow, to_pandas

PHASES = 3
"""Of policy slurm, whose cycles may begin at any time, so many runs are made where nobody says how many."""

LONGEST = 36
"""Characters of a candidate that stand above its column; a longer one stands below the table."""


class CandidatesParameter(luigi.Parameter):
    """Candidates as a JSON list of texts, or as one text."""

    def normalize(self, value: Any) -> str:
        """Return the candidates as canonical JSON, each in its one form.

        Raises
        ------
        ParameterError
            One is not readable, or stands there twice.
        """
        listed = from_json("candidates", value, "[")
        texts = [value] if listed is None else list(listed)
        if not all(isinstance(text, str) for text in texts):
            raise ParameterError(f"candidates={value!r}: give a JSON list of texts such as nodes.gpu.count+=8")
        return canonical_json([each.text for each in read_candidates(texts)])


class CompareCandidates(CellsTask, MeasuringTask, LogPublishingTask):
    """Simulate a log as it is and with each of several candidates, and publish what they bring.

    Reads the schedule of each simulation; they are tasks of their own, the same as of ComparePolicies: what is finished
    is not computed again, ``--processes N`` runs N at a time, ``--cluster`` as many as the cluster has workers. Writes
    ``<data root>/<log>-candidates/<version>/`` with the tables candidates, candidate_blocks and candidate_advice, the
    same as CSV, a page in Markdown, a README.md, a datapackage.json and a manifest; complete when that version is
    published.
    """

    code_version = 1
    main_table = "candidates"
    tables_used = ("candidates", "candidate_blocks", "candidate_advice")
    what = "What changes of a machine, other policies or options would bring, by simulation"
    candidates = CandidatesParameter(description="a JSON list of changes: nodes.gpu.count+=8; predictor=exact")
    policy = luigi.Parameter(
        default="",
        description="the policy as it is; default: slurm where the machine says how it is configured, else easy",
    )
    phases = luigi.IntParameter(
        default=0, description=f"runs of a policy with cycles, which begin at other times; 0: {PHASES} of slurm, else 1"
    )
    seeds = luigi.Parameter(default="0", description="seeds, separated by commas: each is a run")

    def check_values(self) -> None:
        """Raise ParameterError if a candidate cannot be, or two are the same run."""
        super().check_values()
        if self.phases < 0:
            raise ParameterError(f"phases={self.phases} is not a whole number >= 0")
        seen: dict[str, str] = {}
        for name, runs in self.runs.items():
            if (other := seen.setdefault(runs[0].task_id, name)) != name:
                raise ParameterError(f"candidate {name!r} is the same run as {other!r}; leave one out")

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-candidates"

    @cached_property
    def chosen(self) -> list[Candidate]:
        """The candidates."""
        found = read_candidates(json.loads(self.candidates))
        if not found:
            raise ParameterError("candidates: give at least one, such as nodes.gpu.count+=8")
        return found

    @cached_property
    def runs(self) -> dict[str, list[SimulatePolicy]]:
        """The simulations by candidate, as it was written; those as it is are first."""
        return {AS_IT_IS: self._runs_of(None), **{each.text: self._runs_of(each) for each in self.chosen}}

    def _runs_of(self, candidate: Candidate | None) -> list[SimulatePolicy]:
        """Return the runs of a candidate."""
        options: dict[str, Any] = dict(candidate.options) if candidate else {}
        policy = options.pop("policy", self.policy) or self._usual_policy
        if "processors" in options:
            options["processors"] = _whole(options["processors"])
        if candidate and candidate.changes:
            options["changes"] = canonical_json([*json.loads(self.changes), *candidate.changes])
        try:
            return [
                self.clone(SimulatePolicy, policy=canonical_json([entry]), seed=seed, **options)
                for entry in self._phases_of(policy)
                for seed in self.seed_list
            ]
        except ParameterError as error:
            raise ParameterError(f"candidate {candidate.text!r}: {error}" if candidate else str(error)) from error

    @property
    def _usual_policy(self) -> str:
        described = self.nodes.description
        return "slurm" if described is not None and described.slurm is not None else "easy"

    def _phases_of(self, policy: str) -> list[dict[str, Any]]:
        """Return a policy as tasks have it, with each of its phases where there are to be several."""
        entries = json.loads(PoliciesParameter().normalize(policy))
        if len(entries) != 1:
            raise ParameterError(f"policy={policy!r}: give one; each other one is a candidate, as policy=fcfs")
        entry: dict[str, Any] = entries[0]
        found, chosen = read_policy(entry["policy"], {name: value for name, value in entry.items() if name != "policy"})
        has_phase = "phase" in found.chosen(chosen).to_mapping() and "phase" not in entry
        count = (self.phases or PHASES) if has_phase else 1
        return [{**entry, "phase": place / count} for place in range(count)] if count > 1 else [entry]

    @property
    def seed_list(self) -> list[int]:
        """The seeds, each once."""
        return seeds_of(self.seeds)

    @property
    def cells(self) -> list[SimulatePolicy]:
        """The simulations."""
        return [run for runs in self.runs.values() for run in runs]

    @property
    @once_a_look
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            **{f"cell {place}": cell.key for place, cell in enumerate(self.cells)},
            "candidates": {name: len(runs) for name, runs in self.runs.items()},
            "metrics": self.metrics,
            "queues_left_out": self.queues_left_out,
            "by": self.groupings,
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
        }
        return content_key("compare-candidates", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return every simulation, and the trace, of which the manifest tells."""
        return [*self.cell_stages, self.clone(CleanTrace)]

    def labels(self) -> dict[str, str]:
        """Return what each candidate is called where it is told: without names of people that are withheld."""
        people = self._named_in
        return {name: people(name) for name in self.runs}

    @property
    def _named_in(self) -> Callable[[str], str]:
        """What tells a text with other names of users and accounts, where the machine names some."""
        known = [people for runs in self.runs.values() if (people := runs[0].people) is not None]

        def told(text: str) -> str:
            for each in known:
                text = each.text(text)
            return text

        return told

    def contents(self) -> Contents:
        """Return what the candidates bring, and files of the same."""
        labels = self.labels()
        study, self._beside, self._assumed = self._study(labels)
        advice = advice_of(study, self._beside)
        frames = {
            "candidates": study.candidates,
            "candidate_blocks": study.blocks,
            "candidate_advice": advice,
        }
        tables = {name: to_arrow(frame, name) for name, frame in frames.items()}
        files = {
            f"{name}.csv": writer_of(to_pandas(table, name).to_csv(index=False, lineterminator="\n"))
            for name, table in tables.items()
        }
        files["candidates.md"] = writer_of(as_page(frames["candidates"], advice))
        return Contents(tables, self._facts(study, labels), files)

    _beside = ""
    _assumed: tuple[str, ...] = ()

    def _study(self, labels: dict[str, str]) -> tuple[CandidateStudy, str, tuple[str, ...]]:
        """Return what the candidates bring, what is said of the simulation beside the log, and what runs assume."""
        by: list[str] | None = self.groupings or None
        parameters = MetricParameters.from_mapping(json.loads(self.metrics))
        known = self.clone(CleanTrace).load_names(NUMBERED)
        figures: dict[str, list[RunFigures]] = {}
        beside, logged = "", None
        assumed: tuple[str, ...] = ()
        done = 0
        for name, runs in self.runs.items():
            figures[labels[name]] = []
            for run in runs:
                schedule = run.load_schedule(without={*UNMEASURED} - {*NUMBERED.values(), "submit_timestamp"})
                schedule = replace(schedule, known_names=known)
                powers = _powers_of(run)
                where = self.counts(schedule.jobs)
                if not done:
                    # power is told as not simulated, and counts here
                    assumed = tuple(text for text in schedule.assumptions if not text.startswith("machine: power:"))
                    found = None if self.load or self.shake else beside_log(schedule, run.simulated_trace())
                    if found is not None:
                        beside, counts = found.sentence, found.is_shared & self.counts(found.logged.jobs)
                        logged = figures_of(found.logged, (), parameters, counts)
                figures[labels[name]].append(
                    figures_of(schedule, by if name == AS_IT_IS else (), parameters, where, powers)
                )
                done += 1
                self.tell(done, len(self.cells), f"{done} of {len(self.cells)} schedules are measured")
        base = figures.pop(AS_IT_IS)
        return study_candidates(base, figures, logged), beside, assumed

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return what candidates bring as a table, and the sentences on it."""
        target = self._made or self.output()
        advice = target.root.read_table(target.data_set, "candidate_advice", target.version)
        table = to_pandas(read(), "candidates")
        return f"{as_page(table, to_pandas(advice, 'candidate_advice'), is_printed=True)}\n"

    def shown(self, contents: Contents) -> str:
        """Return the same."""
        table, advice = (to_pandas(contents.tables[name], name) for name in ("candidates", "candidate_advice"))
        return as_page(table, advice)

    def _facts(self, study: CandidateStudy, labels: dict[str, str]) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        first = self.cells[0]
        entries = {canonical_json(cell.entry): cell.entry for cell in self.cells}
        facts = simulation_facts(first, [self], entries.values())
        scaled = [f"submissions are scaled to an offered load of {self.load:g}"] if self.load else []
        if self.load and self.nodes.has_outages:
            scaled.append(STRETCHED)
        told = [
            {
                "candidate": labels[name],
                "policies": [label_of(run.entry) for run in runs],
                "options": {**runs[0].counted_options, "processors": runs[0].processors},
                **runs[0].told_nodes.told,
            }
            for name, runs in self.runs.items()
        ]
        measured = {"metrics": json.loads(self.metrics), "queues_left_out": self.queues_left_out, "by": self.groupings}
        return {
            **facts,
            "title": f"What {len(self.chosen)} candidates would bring: {facts.get('title') or self.found.name}",
            "assumptions": [*facts["assumptions"], *self._assumed, *scaled],
            "parameters": {**facts["parameters"], **measured, "candidates": told, "statistics": ASSUMPTIONS},
            "noise": study.noise,
            "seeds": self.seed_list,
        }


def _whole(text: str) -> int:
    """Return the number of processors of a pool."""
    if not text.isdecimal() or not int(text):
        raise ParameterError(f"processors={text!r} is not a whole number >= 1")
    return int(text)


def _powers_of(run: SimulatePolicy) -> Any:
    """Return the power of the kinds of nodes of a run's machine, as far as it is told."""
    from swftools.energy import powers_of  # noqa: PLC0415 (where there are nodes only)

    described = run.nodes.description
    return powers_of(described) if described is not None else None


def as_page(table: pd.DataFrame, advice: pd.DataFrame, *, is_printed: bool = False) -> str:
    """Return what candidates bring in Markdown: a table with a column for each, then the sentences.

    Files have seconds; what is printed, times in units that people use.
    """
    found = of_all_jobs(table)
    units = [str(unit) for unit in found.pop("unit")]
    said_units = ["s" if is_printed and unit == "s" else "1" for unit in units]
    heads = ["measure"]
    for key, unit, said in zip(found.index, units, said_units, strict=True):
        heads.append(SHOWN[str(key)] if unit in ("1", said) else f"{SHOWN[str(key)]} ({unit})")
    columns, legend = [], []
    for place, (candidate, values) in enumerate(found.items()):
        name = str(candidate)
        title = f"candidate {place}" if len(name) > LONGEST else name
        legend += [f"{title}: `{name}`\n"] if title != name else []
        cells = ("" if isnan(each) else amount(each, unit) for each, unit in zip(values, said_units, strict=True))
        columns.append([title, *cells])
    lines = [*tables_in_width(heads, columns), *legend]
    sentences = list(_sentences(advice))
    if is_printed:
        sentences = [textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False) for line in sentences]
    return "\n".join([*lines, *sentences]) + "\n"


def _sentences(advice: pd.DataFrame) -> Iterator[str]:
    """Yield the sentences as a list in Markdown, those on a candidate behind its name."""
    for row in advice.fillna("").to_dict("records"):
        yield f"* {row['candidate']}: {row['sentence']}" if row["candidate"] else f"* {row['sentence']}"
