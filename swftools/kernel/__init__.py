# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions: the one decorator that makes them, where they are kept, and how to have them ready.

``@kernel`` stands for numba's ``njit`` everywhere in swftools. ``warm_up`` compiles all of them ahead; ``compiling``
tells who asks while they are compiled for the first time.
"""

from swftools.kernel.arrays import BoolArray, FloatArray, IntArray, ShortArray, TinyArray, untouched_zeros
from swftools.kernel.compiling import watch_compiling
from swftools.kernel.decorator import Kernel, kernel
from swftools.kernel.rehearsals import rehearsed, warm_up

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Kernel",
    "ShortArray",
    "TinyArray",
    "kernel",
    "rehearsed",
    "untouched_zeros",
    "warm_up",
    "watch_compiling",
]
