# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes: their description, what jobs ask of them, both as arrays."""
