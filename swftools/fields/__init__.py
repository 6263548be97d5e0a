# SPDX-License-Identifier: BSD-3-Clause
"""The column dictionary: every column of every table, once; ``dictionary.py`` looks them up."""
