# SPDX-License-Identifier: BSD-3-Clause
"""Values that a caller gives for each job: a Series is taken by its index, anything else by its order.

Whoever sorts or filters a table and makes a mask of it has the jobs in another order than the trace or schedule. By
position the mask would choose other jobs, and nobody would notice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError

BoolArray = npt.NDArray[np.bool_]


def in_order_of(index: pd.Index[Any], values: Any, what: str) -> Any:
    """Return values in the order of an index: of a Series or DataFrame by label, others as they are.

    Parameters
    ----------
    index : pandas.Index
        That of the jobs.
    values : Series, DataFrame, or anything
        One for each job; a Series that is sorted otherwise is put in order.
    what : str
        What they are, for messages.

    Raises
    ------
    ParameterError
        The index has other labels than the jobs, or repeats some, so that it does not say which value is whose.

    Examples
    --------
    >>> in_order_of(pd.RangeIndex(3), pd.Series([30, 10, 20], [2, 0, 1]), "widths").tolist()
    [10, 20, 30]
    """
    if not isinstance(values, pd.Series | pd.DataFrame) or values.index.equals(index):
        return values
    if len(values) != len(index):
        raise ParameterError(
            f"{what} has {len(values):,} values with an index, and there are {len(index):,} jobs; give one for each job"
        )
    places = index.get_indexer(values.index) if index.is_unique else np.full(len(values), -1)
    if (np.sort(places) != np.arange(len(index))).any():
        raise ParameterError(
            f"{what} has another index than the jobs, so it does not say which value is whose; make it from that "
            "table, or give an array in its order (to_numpy)"
        )
    return values.iloc[np.argsort(places)]


def in_one_order(**values: Any) -> tuple[Any, ...]:
    """Return values that belong together, by name, in the order of the first of them that has an index.

    Raises
    ------
    ParameterError
        Two have indices of other labels.

    Examples
    --------
    >>> waits, told = in_one_order(waits=pd.Series([1, 2]), told=pd.Series([20, 10], [1, 0]))
    >>> told.tolist()
    [10, 20]
    """
    indices = (each.index for each in values.values() if isinstance(each, pd.Series | pd.DataFrame))
    first = next(indices, None)
    if first is None:
        return tuple(values.values())
    return tuple(in_order_of(first, each, name) for name, each in values.items())


def mask_of(jobs: pd.DataFrame, values: Any, what: str) -> BoolArray:
    """Return a truth value for each job: of a Series by its index, of an array or list in the order of the jobs.

    Raises
    ------
    ParameterError
        There is not one for each job, one is missing or is no truth value, or the index is not that of the jobs.
    """
    values = in_order_of(jobs.index, values, what)
    held: Any = values.array if isinstance(values, pd.Series) else np.asarray(values)
    mask = pd.Series(held) if np.ndim(held) == 1 else pd.Series(dtype=object)
    is_mask = pd.api.types.is_bool_dtype(mask.dtype) and not mask.isna().any()
    if len(mask) != len(jobs) or not (is_mask or mask.empty):
        raise ParameterError(
            f"{what} gives {len(mask)} values of {mask.dtype}; give a truth value for each of {len(jobs)} jobs, none "
            "missing (fillna)"
        )
    return mask.to_numpy(dtype=np.bool_)
