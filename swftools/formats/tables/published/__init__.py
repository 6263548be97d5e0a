# SPDX-License-Identifier: BSD-3-Clause
"""The formats of published tables, one a file; each is imported by a line of ``detect.py``."""
