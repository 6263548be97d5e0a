# SPDX-License-Identifier: BSD-3-Clause
"""IBM LoadLeveler: the long listings of ``llsummary -l`` and ``llq -l``."""

from swftools.formats.loadleveler.reader import LoadLeveler

__all__ = ["LoadLeveler"]
