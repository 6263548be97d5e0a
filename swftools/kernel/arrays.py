"""The arrays that kernels are written for, by name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ShortArray = npt.NDArray[np.int32]
TinyArray = npt.NDArray[np.int8]
