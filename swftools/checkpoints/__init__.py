# SPDX-License-Identifier: BSD-3-Clause
"""Checkpointing of jobs, from a survey of users (Lee 2009): the survey, a synthetic one, and what it says of jobs.

The public names stand in ``__init__.pyi``; each is imported when it is first used.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
