# SPDX-License-Identifier: BSD-3-Clause
"""A history: the jobs of all logs of a machine, whenever their files arrive, each counted once.

This package handles the jobs, without files: ``records`` makes rows of a history from a trace, ``merging`` adds them to
the known ones, and ``months`` splits them. Files, versions and nights are the pipeline's business.
"""
