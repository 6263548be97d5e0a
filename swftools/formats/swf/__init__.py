# SPDX-License-Identifier: BSD-3-Clause
"""The Standard Workload Format: ``reader.py`` and ``writer.py`` over ``block.py`` over the compiled ``kernel.py``."""
