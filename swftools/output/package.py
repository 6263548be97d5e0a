# SPDX-License-Identifier: BSD-3-Clause
"""The package from below: what stands above an object and is asked for by a method of it, ``plot`` or ``describe``."""

from __future__ import annotations

import sys
from typing import Any


def swftools_package() -> Any:
    """Return the package. What is above its caller is so asked for by name, and late; nothing is imported upward."""
    return sys.modules["swftools"]
