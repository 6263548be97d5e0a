# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: one file says logs x policies x options x seeds; what its cells are, and what their table tells."""
