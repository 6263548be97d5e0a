# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions as text: the alternating times and values behind the 18 fields of an extended SWF line.

References
----------
Lee 2009, section 2.6.1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.fields.definition import FLOAT64
from swftools.utility.functions import UtilityFunctions, find_faults, offsets_of

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def parse_tuples(texts: pa.StringArray) -> tuple[UtilityFunctions, dict[int, str]]:
    """Parse ``time value time value ...`` of many lines.

    Parameters
    ----------
    texts : pyarrow.StringArray
        One text a job; null, or blank, is a missing function.

    Returns
    -------
    functions : UtilityFunctions
        One a text; missing where the text is null or wrong.
    faults : dict of int to str
        What is wrong, by position of the text.

    Examples
    --------
    >>> functions, faults = parse_tuples(pa.array(["0 8 60 2", None, "0 8 60"]))
    >>> functions.deadlines.tolist(), faults
    ([60.0, nan, nan], {2: 'has a time without a value'})
    """
    texts = pc.utf8_trim_whitespace(texts)
    words = pc.utf8_split_whitespace(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts))
    counts = pc.fill_null(pc.list_value_length(words), 0).to_numpy().astype(np.int64)
    flat = pc.list_flatten(words)
    try:
        numbers = np.array(flat.cast(FLOAT64))
    except pa.ArrowInvalid:
        numbers = np.array(pc.if_else(pc.match_substring_regex(flat, _NUMBER), flat, "nan").cast(FLOAT64))
    odd = counts % 2 == 1
    points = numbers[np.repeat(~odd, counts)].reshape(-1, 2)
    lengths = np.where(odd, 0, counts // 2)
    faults = find_faults(offsets_of(lengths), points[:, 0].copy(), points[:, 1].copy())
    sound = np.ones(len(texts), bool)
    sound[list(faults)] = False
    points = points[np.repeat(sound, lengths)]
    faults |= {int(index): "has a time without a value" for index in np.flatnonzero(odd)}
    functions = UtilityFunctions(offsets_of(np.where(sound, lengths, 0)), points[:, 0].copy(), points[:, 1].copy())
    return functions, dict(sorted(faults.items()))


def format_tuples(functions: UtilityFunctions) -> pa.StringArray:
    """Return ``time value time value ...`` of each function, in digits that read back exactly; null if missing.

    Examples
    --------
    >>> format_tuples(UtilityFunctions.from_points([[(0, 8), (60, 2.5)], []])).to_pylist()
    ['0 8 60 2.5', None]
    """
    numbers = pa.array(np.column_stack((functions.times, functions.values)).ravel())
    words = pa.ListArray.from_arrays(pa.array(2 * functions.offsets, pa.int32()), numbers.cast(pa.string()))
    empty = pa.array(np.diff(functions.offsets) == 0)
    return pc.if_else(empty, pa.scalar(None, pa.string()), pc.binary_join(words, " "))
