# SPDX-License-Identifier: BSD-3-Clause
"""Schedulers that learn: a Gymnasium environment on the simulator's engine, baselines, and agents as policies.

Importing it registers ``swftools/SchedulingEnv-v1``; the extra ``[learning]`` installs Gymnasium.
"""

from swftools.learning.registration import register_environments
from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

register_environments()
