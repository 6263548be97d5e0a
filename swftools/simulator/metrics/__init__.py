# SPDX-License-Identifier: BSD-3-Clause
"""What schedules are measured by: ``measures.py`` makes the table, from measures of jobs and over time."""
