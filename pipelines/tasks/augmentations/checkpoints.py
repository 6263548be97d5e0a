# SPDX-License-Identifier: BSD-3-Clause
"""Checkpointing as an augmentation: by a survey, or a synthetic one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.checkpoints.fixed_survey import (
    FixedCheckpointSurvey,
    fix_checkpoint_survey,
    infer_fixed_checkpoints,
)
from swftools.checkpoints.inference import (
    CheckpointInference,
    CheckpointParameters,
    infer_checkpoints,
    write_checkpoints,
)
from swftools.checkpoints.survey import (
    ANSWER_COLUMNS,
    CheckpointSurvey,
    read_checkpoint_survey,
    write_checkpoint_survey,
)
from swftools.checkpoints.synthetic_survey import (
    CheckpointSurveyParameters,
    generate_checkpoint_survey,
    synthetic_survey,
)
from swftools.parameters import Parameters
from swftools.parameters.small_files import hash_of_file
from swftools.tables import read_table, to_pandas
from swftools.trace import Trace


@dataclass(frozen=True)
class SurveyedCheckpoints(Parameters):
    """Parameters of the inference of checkpoints, and of where the survey comes from.

    Parameters
    ----------
    seed, workload
        As in ``CheckpointParameters``.
    survey : str
        Path of a survey (CSV), or ``synthetic`` for one that is made up.
    answers, response_share
        Of a synthetic survey, as in ``CheckpointSurveyParameters``.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain; or there is no such file.
    """

    NAME: ClassVar[str] = "checkpoints"

    seed: int = 0
    workload: Literal["pooled", "answers"] = "pooled"
    survey: str = "synthetic"
    answers: int = CheckpointSurveyParameters.answers
    response_share: float = CheckpointSurveyParameters.response_share

    def __post_init__(self) -> None:
        _ = self.inference, self.synthesis  # which check the others
        is_file = isinstance(self.survey, str) and (not self.path or self.path.is_file())
        self._require("survey", is_file, "the path of a survey, nor the word synthetic")

    @property
    def inference(self) -> CheckpointParameters:
        """The parameters of the inference."""
        return CheckpointParameters(self.seed, self.workload)

    @property
    def synthesis(self) -> CheckpointSurveyParameters:
        """The parameters of a synthetic survey."""
        return CheckpointSurveyParameters(self.seed, self.answers, self.response_share)

    @property
    def path(self) -> Path | None:
        """The survey's file; None if it is synthetic."""
        return None if self.survey == "synthetic" else Path(self.survey).expanduser()

    def to_mapping(self) -> dict[str, Any]:
        """Return what determines the output: of a file its name and hash, of a synthetic survey its parameters."""
        values: dict[str, Any] = {"survey": "synthetic", **self.inference.to_mapping(), **self.synthesis.to_mapping()}
        if self.path:
            sha256 = hash_of_file(self.path)
            values = {**self.inference.to_mapping(), "survey": {"name": self.path.name, "sha256": sha256}}
        return values

    def survey_of(self, trace: Trace) -> CheckpointSurvey:
        """Read the survey, or make one up for a trace."""
        return read_checkpoint_survey(self.path) if self.path else generate_checkpoint_survey(trace, self.synthesis)


class AddCheckpoints(Augmentation):
    """Infer from a survey which jobs write checkpoints (Lee 2009, section 6.6).

    Besides the tables, publishes a side file for users of SWF and, if the survey is synthetic, the survey as a file.
    Synthetic files say so in their names.
    """

    name = "checkpoints"
    code_version = 2
    parameters_class = SurveyedCheckpoints
    other_tables = ("checkpoint_survey", "checkpoint_summary")

    def compute(self, trace: Trace) -> CheckpointInference:
        """Return the columns, the answers, and how many there are of each choice."""
        return infer_checkpoints(trace, self.chosen.survey_of(trace), self.chosen.inference)

    def why_not_fixed(self) -> str:
        """Return nothing: it can be."""
        return ""

    def fit(self, trace: Trace) -> dict[str, Any]:
        """Return the answers of the survey, one made up for these jobs if need be, and the jobs that they are for."""
        return fix_checkpoint_survey(trace, self.chosen.survey_of(trace)).to_mapping()

    def compute_fixed(self, trace: Trace, fitted: Mapping[str, Any]) -> pd.DataFrame:
        """Return the columns, by the answers that were settled."""
        return infer_fixed_checkpoints(trace, FixedCheckpointSurvey.from_mapping(fitted), self.chosen.inference)

    def files(self, data_set: str) -> Iterator[tuple[str, Callable[[Path], None]]]:
        """Yield the side file, and the survey if it is synthetic."""
        synthetic = "" if self.chosen.path else "synthetic-"
        yield f"{data_set}.{synthetic}checkpoints.csv", self._write_side_file
        if synthetic:
            yield f"{data_set}.{synthetic}checkpoint-survey.csv", self._write_survey

    def _write_side_file(self, path: Path) -> None:
        """Write the columns as the side file."""
        write_checkpoints(to_pandas(read_table(self.table_path(self.name), self.name), self.name), path)

    def _write_survey(self, path: Path) -> None:
        """Write the survey that was made up, whose answers the table holds as they are: they tell all of their jobs."""
        answers = to_pandas(read_table(self.table_path("checkpoint_survey"), "checkpoint_survey"), "checkpoint_survey")
        write_checkpoint_survey(synthetic_survey(answers[list(ANSWER_COLUMNS)], self.chosen.synthesis), path)
