# SPDX-License-Identifier: BSD-3-Clause
"""What a seed means where there are several logs: they share its draws, and whoever chooses one is told so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace, UtilityParameters, generate_utility
from swftools.checkpoints.inference import CheckpointParameters
from swftools.checkpoints.synthetic_survey import CheckpointSurveyParameters
from swftools.models.arrivals import ArrivalParameters, generate_arrivals
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.models.requested_times import RequestedTimeParameters
from swftools.parameters import Parameters
from tests.pages import DOCS

OF_LOGS: dict[type[Parameters], str] = {
    UtilityParameters: "utility",
    SpeedupParameters: "moldable",
    CheckpointParameters: "checkpoints",
    CheckpointSurveyParameters: "checkpoints",
    ArrivalParameters: "arrivals",
    RequestedTimeParameters: "estimates",
}
"""The parameters of what is drawn for the jobs of a log, and the page of each."""


def log(start: float, width: int) -> Trace:
    """Make a log of a hundred jobs, one a minute."""
    columns: dict[str, Any] = {"run_time": np.arange(100) + start, "requested_processors": [width] * 100}
    return Trace.from_columns(job_number=range(100), submit_time=start + 60.0 * np.arange(100), **columns)


def drawn(trace: Trace, seed: int) -> list[Any]:
    """Return what is drawn for each job, and for the whole trace, whatever else its jobs are."""
    arrivals = generate_arrivals(trace, ArrivalParameters(seed=seed, model="poisson"))["model_submit_time"]
    return [
        generate_utility(trace, UtilityParameters(seed=seed))["utility_decay"].tolist(),
        generate_speedup(trace, SpeedupParameters(seed=seed, moldable_share=0.5))["is_moldable"].tolist(),
        (arrivals - arrivals.min()).tolist(),
    ]


def test_logs_share_the_draws_of_a_seed() -> None:
    """So the same jobs, in whatever form, draw alike; and so do others, unless they take another seed."""
    one, other = log(0.0, 8), log(86_400.0 * 50, 16)
    assert drawn(one, 3) == drawn(other, 3)
    for mine, theirs in zip(drawn(one, 3), drawn(other, 4), strict=True):
        assert np.mean([a == b for a, b in zip(mine, theirs, strict=True)]) < 0.7


@pytest.mark.parametrize(("parameters", "page"), OF_LOGS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_whoever_chooses_a_seed_is_told(parameters: type[Parameters], page: str) -> None:
    """Beside the parameter, in its docstring and on its page."""
    assert "Logs share the draws of a seed (docs/concepts.md, Seeds)" in (parameters.__doc__ or "")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert "| `seed` | 0 | 0 to 2^64 - 1; logs [share the draws](concepts.md#seeds) of a seed |" in text
