# SPDX-License-Identifier: BSD-3-Clause
"""Whether a schedule can be: ``report.py`` asks the rules that hold of all, and the promises of its policy."""
