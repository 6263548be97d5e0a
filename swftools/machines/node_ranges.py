# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of runs as tables hold them: ranges of their numbers; and as people read them: hostlists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import ParameterError
from swftools.fields.definition import RANGES
from swftools.kernel import IntArray, ShortArray
from swftools.machines.hostlist import fold_hosts


def ranges_of(column: pd.Series[Any]) -> tuple[IntArray, ShortArray, ShortArray]:
    """Return the ranges of a column ``nodes``: where those of each row begin, and the first and the last of each.

    Where they begin has one entry more than there are rows. A missing value, or an empty list, is no range.

    Raises
    ------
    ParameterError
        The column is not of lists of whole numbers, or a list has no pairs.

    Examples
    --------
    >>> [each.tolist() for each in ranges_of(pd.Series([[0, 3], [5, 5, 7, 9], None]))]
    [[0, 1, 3, 3], [0, 5, 7], [3, 5, 9]]
    """
    try:
        lists = pa.array(column, RANGES, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ParameterError(f"nodes of runs are lists of pairs of whole numbers: {error}") from error
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    if (lengths % 2).any():
        row = int(np.argmax(lengths % 2))
        raise ParameterError(f"nodes of runs, row {row}: {lengths[row]} numbers are no pairs of first and last")
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    begins = np.concatenate(([0], np.cumsum(lengths // 2))).astype(np.int64)
    return begins, np.array(flat[::2]), np.array(flat[1::2])


def hostlists_of(column: pd.Series[Any], names: Sequence[str]) -> list[str]:
    """Return the nodes of each row as a hostlist, by the names of a machine's nodes; empty where there are none.

    Raises
    ------
    ParameterError
        As ``ranges_of``, or a row has a node that the machine has not.

    Examples
    --------
    >>> hostlists_of(pd.Series([[0, 2, 4, 4], [4, 5], []]), ["n08", "n09", "n10", "n11", "m", "gpu1"])
    ['n[08-10],m', 'm,gpu1', '']
    """
    begins, first, last = ranges_of(column)
    require_nodes(begins, first, last, len(names))
    known: dict[tuple[int, ...], str] = {}  # many jobs have the same nodes
    told = []
    for low, high in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        key = (*first[low:high].tolist(), *last[low:high].tolist())
        if key not in known:
            nodes = [name for place in range(low, high) for name in names[int(first[place]) : int(last[place]) + 1]]
            known[key] = fold_hosts(nodes)
        told.append(known[key])
    return told


def require_nodes(begins: IntArray, first: ShortArray, last: ShortArray, nodes: int) -> None:
    """Refuse ranges with nodes that a machine has not.

    Raises
    ------
    ParameterError
        Names the row and the range.
    """
    wrong = (first < 0) | (last < first) | (last >= nodes)
    if wrong.any():
        place = int(np.argmax(wrong))
        row = int(np.searchsorted(begins, place, side="right")) - 1
        raise ParameterError(
            f"nodes of runs, row {row}: {first[place]} to {last[place]}, and the machine has {nodes:,} nodes, from 0 "
            "on; is it the machine of this schedule?"
        )
