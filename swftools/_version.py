# SPDX-License-Identifier: BSD-3-Clause
"""The version of both packages, in a module of its own so that building needs no import of the rest."""

__version__ = "1.0.0"
