# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of models share."""

from __future__ import annotations

import pytest

from swftools import Trace
from swftools.models.lublin_feitelson import generate


@pytest.fixture(scope="module")
def workload() -> Trace:
    """Three months of a model."""
    return generate(8000, seed=1, start_hour=6)
