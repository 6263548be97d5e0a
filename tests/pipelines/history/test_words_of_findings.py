# SPDX-License-Identifier: BSD-3-Clause
"""What was passed is said of both directions; a state's file stays within its version."""

import pandas as pd
import pytest

from pipelines.history.findings import of_drift
from pipelines.history.known_state import _state_in
from swftools.errors import SwfToolsError


@pytest.mark.parametrize(
    ("statistic", "drift", "threshold", "words"),
    [
        ("ratio_of_means", 0.3426, 2.0, "0.3426, below 1/2"),
        ("ratio_of_means", 2.5, 2.0, "2.5, above 2"),
        ("difference_of_means", -0.3, 0.1, "-0.3, below -0.1"),
        ("kolmogorov_smirnov", 0.5, 0.2, "0.5, above 0.2"),
    ],
)
def test_which_bound_was_passed(statistic, drift, threshold, words):
    """Which bound was passed."""
    row = {"aspect": "waits", "statistic": statistic, "unit": "s", "recent": 1.0, "reference": 3.0}
    (finding,) = of_drift(pd.DataFrame([{**row, "drift": drift, "threshold": threshold, "is_beyond": True}]))
    assert finding.message.endswith(words)


@pytest.mark.parametrize("file", ["../other/secret", "/etc/passwd", "manifest.json"])
def test_a_state_outside_its_version_is_refused(file):
    """A state outside its version is refused."""
    manifest = {"waits": {"binomial": {"states": ["2000-01"], "files": {"2000-01": file}}}}
    with pytest.raises(SwfToolsError, match="file of a state"):
        _state_in(manifest, "data/site", "binomial")
