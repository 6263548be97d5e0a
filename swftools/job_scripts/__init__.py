# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts, read as the batch system reads them: what a job would request, before it is submitted.

A dialect is a file: ``sbatch``, ``pbs``, ``bsub``. The public names stand in ``__init__.pyi``; each is imported when it
is first used.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
