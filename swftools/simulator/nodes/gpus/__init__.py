# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes whose GPUs are told apart: what is free of each, what of it is a fragment, and inflation."""
