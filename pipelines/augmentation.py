"""Augmentations, each a task that computes columns for the jobs of a cleaned trace, and the registry of them.

A new augmentation is a subclass of ``Augmentation`` with a name, a table in the column dictionary whose key is
(job_number, job_occurrence), and a parameter class; registered here, it is an option of BuildAugmentedTrace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import luigi
import pandas as pd

from pipelines.keys import canonical_json, content_key
from pipelines.strict_yaml import read_yaml
from pipelines.targets import DirectoryTarget
from pipelines.traces import CleanTrace, RulesTask
from swftools.errors import ParameterError
from swftools.models.utility import UtilityParameters, generate_utility
from swftools.tables import to_arrow, write_table
from swftools.trace import Trace


class ParametersParameter(luigi.Parameter):
    """Parameters by augmentation, as JSON or as the path of a JSON or YAML file."""

    def normalize(self, value: Any) -> str:
        """Return the parameters as canonical JSON.

        Raises
        ------
        ParameterError
            Not a mapping of augmentation to parameters, or a parameter that the augmentation refuses.
        """
        chosen = _load_parameters(value) if isinstance(value, str) else value
        if not isinstance(chosen, Mapping) or not all(isinstance(part, Mapping) for part in chosen.values()):
            raise ParameterError(f"parameters={value!r}: give a mapping such as {{'utility': {{'globmax': 2}}}}")
        for name, parameters in chosen.items():
            find_augmentation(name).check(parameters)
        return canonical_json(chosen)


def _load_parameters(text: str) -> Any:
    """Return what a JSON text, or a JSON or YAML file, holds."""
    if not text.strip():
        return {}
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        content = read_yaml(Path(text).read_bytes())
    except (json.JSONDecodeError, OSError) as error:
        raise ParameterError(f"parameters {text!r}: {error}; give JSON or the path of a JSON or YAML file") from error
    for path, problem in content.problems:
        raise ParameterError(f"{text}, line {content.line_of(path) or 1}: {problem}")
    return content.value


class Augmentation(RulesTask):
    """Base of augmentations: columns for the jobs of a cleaned trace.

    Reads the cleaned trace; writes ``<work root>/<name>/<key>/<name>.parquet``; complete when that exists.
    """

    name: ClassVar[str]
    code_version: ClassVar[int]
    seed = luigi.IntParameter(default=0, description="seed of every random draw")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")

    def requires(self) -> CleanTrace:
        """Require the cleaned trace."""
        task: CleanTrace = self.clone(CleanTrace)
        return task

    def output(self) -> DirectoryTarget:
        """Return the directory of the columns."""
        return self.directory(self.name, self.key)

    @property
    def path(self) -> Path:
        """Path of the columns."""
        return self.output().path / f"{self.name}.parquet"

    @property
    def own_parameters(self) -> dict[str, Any]:
        """Every parameter with its value, as the key and the manifest record it."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """Content key of the output."""
        inputs = {"trace": self.requires().key, "parameters": self.own_parameters}
        return content_key(self.name, self.code_version, inputs)

    @classmethod
    def check(cls, parameters: Mapping[str, Any]) -> None:
        """Raise ParameterError if a parameter is unknown or outside its domain."""
        raise NotImplementedError

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return the columns, one row a job of the trace, without the key."""
        raise NotImplementedError

    def run(self) -> None:
        """Compute the columns."""
        trace = self.requires().load()
        keys = trace.jobs[["job_number", "job_occurrence"]]
        columns = to_arrow(pd.concat([keys, self.compute(trace)], axis=1), self.name)
        with self.output().fill() as directory:
            write_table(columns, directory / self.path.name, self.name)


class AddUtility(Augmentation):
    """Generate a utility function for every job (Lee 2009, section 2.6)."""

    name = "utility"
    code_version = 1

    @property
    def _chosen(self) -> UtilityParameters:
        """The parameters: those given, the seed, and the card's queue ranks or those of a named alternative."""
        given = {"seed": self.seed, **json.loads(self.parameters).get(self.name, {})}
        ranks = given.get("queue_ranks")
        if ranks is None or isinstance(ranks, str):
            card = self.found.card
            if card is None and ranks is not None:
                raise ParameterError(
                    f"utility: queue_ranks={ranks!r}, but log {self.found.name} has no card to look it up"
                )
            given["queue_ranks"] = card.ranks(ranks) if card else {}
        return UtilityParameters.from_mapping(given)

    @property
    def own_parameters(self) -> dict[str, Any]:
        """Every parameter with its value."""
        return self._chosen.to_mapping()

    @classmethod
    def check(cls, parameters: Mapping[str, Any]) -> None:
        """Raise ParameterError if a parameter is unknown or outside its domain.

        ``queue_ranks`` may also be the name of an alternative ranking on the log's card.
        """
        named = isinstance(parameters.get("queue_ranks"), str)
        UtilityParameters.from_mapping({n: v for n, v in parameters.items() if not (named and n == "queue_ranks")})

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return priority_rank, utility_decay, utility and logged_utility."""
        return generate_utility(trace, self._chosen)


AUGMENTATIONS: dict[str, type[Augmentation]] = {AddUtility.name: AddUtility}


def find_augmentation(name: str) -> type[Augmentation]:
    """Return the task of an augmentation.

    Raises
    ------
    ParameterError
        There is none of that name.
    """
    if name not in AUGMENTATIONS:
        raise ParameterError(f"no augmentation {name!r}; there are: {', '.join(AUGMENTATIONS)}")
    return AUGMENTATIONS[name]
