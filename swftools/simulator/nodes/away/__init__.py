# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are away for a while: what a machine with outages does in another way than one without."""
