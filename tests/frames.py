# SPDX-License-Identifier: BSD-3-Clause
"""Tables compared quickly: where many examples compare them, pandas' own assertion takes longer than what is tested."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas.testing import assert_frame_equal


def assert_same(found: pd.DataFrame, expected: pd.DataFrame, **how: Any) -> None:
    """Assert that tables have equal columns, dtypes and values; if not, pandas says where, and whether it matters."""
    if not (found.equals(expected) and found.dtypes.equals(expected.dtypes)):
        assert_frame_equal(found, expected, **how)
