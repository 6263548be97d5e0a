# SPDX-License-Identifier: BSD-3-Clause
"""IBM Spectrum LSF: the accounting file lsb.acct."""

from swftools.formats.lsf.reader import Lsf

__all__ = ["Lsf"]
