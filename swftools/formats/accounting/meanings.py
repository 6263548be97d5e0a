# SPDX-License-Identifier: BSD-3-Clause
"""What the texts of a column mean, worked out once for each different one: a log says the same again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def by_word(
    words: pa.LargeStringArray | pa.DictionaryArray, value: Callable[[str], Any], absent: Any
) -> npt.NDArray[Any]:
    """Return what each text means in numbers.

    Parameters
    ----------
    words : pyarrow.LargeStringArray, or a pyarrow.DictionaryArray of such
        The texts.
    value : callable
        Returns the number of a text, or several.
    absent : number, or tuple of numbers
        What stands where there is no text: as many.

    Returns
    -------
    ndarray, shape (texts,) or (numbers, texts)

    Examples
    --------
    >>> by_word(pa.array(["a", None, "bcd"], pa.large_string()), len, -1).tolist()
    [1, -1, 3]
    """
    found = words.dictionary_encode()
    table = np.array([*map(value, found.dictionary.to_pylist()), absent])
    return np.ascontiguousarray(table[found.indices.fill_null(-1).to_numpy(zero_copy_only=False)].T)


def said_by_word(
    words: pa.LargeStringArray | pa.DictionaryArray, say: Callable[[str], str | None]
) -> pa.LargeStringArray:
    """Return what each text means in words, null where it means nothing or there is none."""
    found = words.dictionary_encode()
    return pa.array(list(map(say, found.dictionary.to_pylist())), pa.large_string()).take(found.indices)
