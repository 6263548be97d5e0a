# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes: the second kind of machine that the engine runs, with the same policies."""
