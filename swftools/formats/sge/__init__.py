# SPDX-License-Identifier: BSD-3-Clause
"""Grid Engine: the accounting files of Sun, Son of, Open and Univa Grid Engine."""

from swftools.formats.sge.reader import Sge

__all__ = ["Sge"]
