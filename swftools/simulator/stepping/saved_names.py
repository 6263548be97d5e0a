# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state has of the names behind numbers: jobs that are submitted later are read with them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from swftools.parameters import is_whole
from swftools.simulator.stepping.state_checks import refuse
from swftools.trace import Trace

COLUMNS = ("kind", "number", "name")


def names_of(trace: Trace) -> dict[str, Any]:
    """Return the names behind numbers, where the trace has a table of them."""
    if not len(trace.names):
        return {}
    known = trace.names.dropna(subset=["number", "name"])
    columns = zip(*(known[name] for name in COLUMNS), strict=True)
    return {"names": [[str(kind), int(number), str(name)] for kind, number, name in columns]}


def names_in(document: Any) -> pd.DataFrame:
    """Return the table of names of a state.

    Raises
    ------
    StateError
        It is none.
    """
    for kind, number, name in document:
        if not isinstance(kind, str) or not is_whole(number, 0, 2**63 - 1) or not isinstance(name, str):
            refuse("names", "not a word behind a number")
    return pd.DataFrame(document, columns=list(COLUMNS))
