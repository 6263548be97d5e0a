# SPDX-License-Identifier: BSD-3-Clause
"""A module that cannot be imported; used by the tests of cleaning."""

LIMIT = 1 / 0
